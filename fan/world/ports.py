"""Whether a port can be had."""

from __future__ import annotations

import socket


def is_free(port: int) -> bool:
    """Whether a program could listen on `port` of this machine now."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
