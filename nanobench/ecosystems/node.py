"""Node and its packages: pinned by integrity, laid out by the real npm or pnpm inside the locked image.

``resolve`` needs the network. ``assemble`` (the layer with Node and the package manager) needs the store, ``install``
(the workspace's ``node_modules``) the store and an engine.
"""

from __future__ import annotations

from nanobench.ecosystems.node_install import Modules, install
from nanobench.ecosystems.node_layer import assemble
from nanobench.ecosystems.node_lockfile import check_lockfile
from nanobench.ecosystems.node_resolve import NodeResolution, resolve

__all__ = ["Modules", "NodeResolution", "assemble", "check_lockfile", "install", "resolve"]
