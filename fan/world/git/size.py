"""How much disk a checkout takes."""

from __future__ import annotations

from fan.world.git.repository import Repository

BLOCK = 4096


def checkout_bytes(repo: Repository, oid: str) -> int:
    """Bytes on disk of a full checkout of `oid`, each file rounded up to a block; filters may make it more."""
    sizes = repo.common.run("ls-tree", "-r", "--full-tree", "--format=%(objectsize)", oid).split()
    return sum(-(-int(size) // BLOCK) * BLOCK for size in sizes if size.isdigit())
