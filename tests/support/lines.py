"""Command lines in documents, and what the real parser says of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup

from fan.cli.app import program

SPAN = re.compile(r"`(fan [^`]+)`")
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = frozenset({"|", ">", ">>", "<", "&&", ";"})


def spans(markdown: str) -> Iterator[str]:
    """Code spans and lines of code blocks that begin with `fan `."""
    yield from SPAN.findall(BLOCK.sub("", markdown))
    for block in BLOCK.findall(markdown):
        yield from (line for line in block.splitlines() if line.startswith("fan "))


def parse(line: str) -> None:
    """Have the parser take a command line, up to where the shell goes on. Raises what the parser raises."""
    words = shlex.split(line, comments=True)
    end = next((n for n, word in enumerate(words) if word in SHELL), len(words))
    _enter(program(), "fan", words[1:end], None)


def _enter(command: Any, name: str, words: list[str], parent: Any) -> None:
    context = command.make_context(name, words, parent=parent)
    if isinstance(command, TyperGroup):
        left = [*context._protected_args, *context.args]
        found, below, rest = command.resolve_command(context, left)
        _enter(below, str(found), rest, context)
