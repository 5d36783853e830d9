"""Images: layers in the store, and the OCI documents that name them."""
