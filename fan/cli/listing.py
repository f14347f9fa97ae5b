"""`fan ls`: past the parser, and around it where its words are plain flags: the parser takes a third of the time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from fan.cli.answering import answer, called, said, world
from fan.errors import UsageError
from fan.render import output

if TYPE_CHECKING:
    from fan.verbs.listing import ListRequest

FLAGS = frozenset({"--all", "--waiting", "--no-git", "--json"})


def is_plain(words: Sequence[str]) -> bool:
    """Whether `run` can do without the parser."""
    return words[:1] == ["ls"] and FLAGS.issuperset(words[1:])


def run(words: Sequence[str]) -> int:
    """Run `ls` with plain flags; its exit code."""
    return called(lambda: _plain(words), words)


def leave(code: int) -> NoReturn:
    """Exit at once: all is said and on record, and taking a hundred modules down takes as long as Python's start."""
    os._exit(code)


def show(request: ListRequest, *, as_json: bool) -> int:
    """Print the members as they stand."""
    from fan.render.rows import rows
    from fan.verbs import listing

    here = world()
    found = listing.ls(here, request)
    if found.hint and not as_json:
        output.aside(said(found.hint))
    return answer(found.rows, lambda: rows(found.rows, here.clock.now()), as_json=as_json)


def watch(request: ListRequest, *, as_json: bool) -> int:
    """Show them until Ctrl-C, which is how it is meant to end."""
    from fan.render.watching import watching
    from fan.verbs import listing

    if as_json:
        raise UsageError("--watch and --json exclude each other", hint="fan ls --json")
    here = world()
    with watching(here.clock.now) as show_them, suppress(KeyboardInterrupt):
        listing.watch(here, request, lambda found: show_them(found.rows, found.hint))
    return 0


def _plain(words: Sequence[str]) -> int:
    from fan.verbs.listing import ListRequest

    request = ListRequest(everywhere="--all" in words, waiting="--waiting" in words, git="--no-git" not in words)
    return show(request, as_json="--json" in words)
