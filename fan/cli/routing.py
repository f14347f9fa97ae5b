"""Where a command line goes before its words are parsed: a leading number, or a leading option, is a start."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup, TyperOption

START = "N"
COUNT = "--count"
COMMAND = "--command"
OF_THE_PROGRAM = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})


LITERAL: ContextVar[bool] = ContextVar("literal", default=False)
"""Whether the text of this command line stood behind `--`, where `-` is no more than a dash."""


class Verbs(TyperGroup):
    """The verbs of `fan`, with `fan 3 ...` and `fan --agent ...` among them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As every group does, after routing."""
        return super().parse_args(ctx, routed(args))


class Verb(TyperCommand):
    """One verb. An option that is given as an empty text is refused: a script's variable was not set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As every command does, then the look for empty options."""
        rest = super().parse_args(ctx, args)
        for one in self.params:
            if isinstance(one, TyperOption) and not one.hidden and _is_given_as_nothing(ctx, one.name or ""):
                raise BadParameter("it is empty", ctx=ctx, param=one)
        return rest

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments as people write them: `MEMBER`, not `{MEMBER}`."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class WithText(Verb):
    """A verb whose words after `--` are one text, whatever they look like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As every command does, after joining."""
        LITERAL.set("--" in args)
        return super().parse_args(ctx, joined(args))


class WithCommand(Verb):
    """A verb whose words after `--` are a command: one word is a line for the shell, several are its words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As every command does, the command as an option."""
        if "--" in args:
            end = args.index("--")
            words = args[end + 1 :]
            args = [*args[:end], COMMAND, words[0] if len(words) == 1 else shlex.join(words)]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments, and where the command stands."""
        return [*super().collect_usage_pieces(ctx), "[-- CMD]"]


def _is_given_as_nothing(ctx: Any, name: str) -> bool:
    value, source = ctx.params.get(name), ctx.get_parameter_source(name)
    return "" in (value if isinstance(value, tuple) else (value,)) and source.name == "COMMANDLINE"


def routed(words: Sequence[str]) -> list[str]:
    """`words` with the start verb written out where it is only meant."""
    first, rest = (words[0], words[1:]) if words else ("", ())
    if first.isascii() and first.isdigit():
        return [START, COUNT, first, *rest]
    if first.startswith("-") and first.partition("=")[0] not in OF_THE_PROGRAM:
        return [START, *words]
    return list(words)


def joined(words: Sequence[str]) -> list[str]:
    """`words` with all that follows `--` as one word."""
    if "--" not in words[:-1]:
        return list(words)
    end = words.index("--")
    return [*words[: end + 1], " ".join(words[end + 1 :])]
