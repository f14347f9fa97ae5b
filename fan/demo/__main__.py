"""`python -m fan.demo [--session-id ID | --resume ID] [--model NAME] [--version]`."""

from __future__ import annotations

import argparse
import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from fan.demo import behaviours
from fan.demo.app import App
from fan.demo.desk import open_desk
from fan.demo.terminal import Terminal

VERSION = "demo 1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the demo in this terminal; returns its exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error("it needs a terminal")
    try:
        wanted = behaviours.read(os.environ)
    except ValueError as error:
        parser.error(str(error))
    desk = open_desk(os.environ, wanted, str(given.resume or given.session_id or uuid.uuid4()), given.model)
    keylog = os.environ.get("FAN_DEMO_KEYLOG")
    with Terminal(Path(keylog) if keylog else None) as terminal:
        return App(terminal, desk).run()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="demo", description="An agent to try fan with.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument("--model", default="plain", help="shown in the banner")
    session = parser.add_mutually_exclusive_group()
    session.add_argument("--session-id", type=uuid.UUID, help="the id of the new session")
    session.add_argument("--resume", type=uuid.UUID, help="go on with this session")
    return parser


if __name__ == "__main__":
    sys.exit(main())
