"""Resolve a request with the ecosystem's real tool, pin every file, and install from pinned files alone.

``registries`` knows where this client gets files from, ``fetch`` brings pinned files into the store, and one
family of modules an ecosystem (``debian``, ``python``, ``node``, and ``npm`` below it) resolves and installs. A lock
holds no host name.
"""
