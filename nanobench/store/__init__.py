"""The store: blobs by digest, unpacked trees, recipe → output. It knows nothing of what the bytes mean."""
