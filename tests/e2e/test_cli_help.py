"""Help: every verb says what it does, shows an example, and can answer in JSON."""

from __future__ import annotations

import re
import shlex
import sys
from typing import Any

import pytest
from typer import BadParameter
from typer.core import TyperGroup

from fan.cli.app import program, run
from fan.cli.reference import commands
from fan.cli.routing import COUNT, routed

WHOLE: Any = program()
VERBS: dict[str, Any] = dict(commands(WHOLE))
GROUPS: dict[str, Any] = {f"fan {name}": one for name, one in WHOLE.commands.items() if isinstance(one, TyperGroup)}


@pytest.mark.parametrize("path", sorted({*VERBS, *GROUPS}))
def test_help_is_a_sentence_and_an_example(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The help of each verb and of each group of verbs has one sentence and one example line, and the example starts
    with the verb itself."""
    words = path.split()[1:]
    assert run([*words, "--help"]) == 0
    example = capfd.readouterr().out.split("Example:")[1]
    assert routed(shlex.split(" ".join(example.split()))[1:])[: len(words)] == words
    sentence = (VERBS | GROUPS)[path].help
    assert sentence.endswith(".")
    assert "\n\n" not in sentence


@pytest.mark.parametrize("path", [path for path in VERBS if path not in ("fan report", "fan mcp")])
def test_every_verb_can_answer_in_json(path: str) -> None:
    """`--json` is an option of each verb but of hooks' silent `report`, and of `mcp`, which speaks nothing else."""
    assert "--json" in {name for param in VERBS[path].params for name in param.opts}


def test_the_groups_are_there() -> None:
    """Red when they are built of another class, and the test above passes them over."""
    assert {*GROUPS} > {f"fan {name}" for name in ("archive", "group", "mail", "recipe", "stash", "wait", "worktree")}


@pytest.mark.parametrize("path", sorted({*VERBS, *GROUPS}))
def test_examples_are_parsed(path: str) -> None:
    """What the help shows as an example is a line that the parser takes."""
    command = (VERBS | GROUPS)[path]
    words = routed(shlex.split(command.epilog.removeprefix("Example: fan ")))
    inner = words[len(path.split()) - 1 :]
    assert command.make_context(path, inner, resilient_parsing=False)


def test_the_count_of_a_start_is_read() -> None:
    """`fan 3 ...` reaches the start verb with its number, `fan --agent ...` without one."""
    start = VERBS["fan N"]
    with_count = start.make_context("N", [COUNT, "3", "--agent", "a", "--", "-h", "x"])
    assert (with_count.params["count"], with_count.params["prompt"]) == (3, "-h x")
    without = start.make_context("N", ["--agent", "a,b", "--prompt", "1", "--prompt", "2"])
    assert (without.params["count"], without.params["prompts"]) == (None, ("1", "2"))


TEXTS = [
    (path, option)
    for path, command in VERBS.items()
    for param in command.params
    if param.param_type_name == "option" and not (param.is_flag or param.hidden) and param.type.name == "str"
    for option in param.opts
]


@pytest.mark.parametrize(("path", "option"), [*TEXTS, ("fan keep", "--into"), ("fan ls", "--group")])
def test_an_option_that_is_given_as_nothing_is_refused(path: str, option: str) -> None:
    """`--into "$UNSET"` is a usage error, of every option of every verb that takes a text, before anything is done.

    Red when an empty text passes for an option that was left out.
    """
    command = VERBS[path]
    example = routed(shlex.split(command.epilog.removeprefix("Example: fan ")))[len(path.split()) - 1 :]
    end = example.index("--") if "--" in example else len(example)
    with pytest.raises(BadParameter, match="it is empty") as refusal:
        command.make_context(path, [*example[:end], option, "", *example[end:]])
    assert option in refusal.value.format_message()


def test_an_empty_option_is_a_wrong_use(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, with the option's name and the command that shows the help."""
    monkeypatch.setattr(sys, "argv", ["fan"])
    assert run(["keep", "member", "--merge", "--into", ""]) == 2
    said = capfd.readouterr().err
    assert "--into" in said
    assert "fan keep --help" in said


@pytest.mark.parametrize("path", sorted(VERBS))
def test_the_shell_completes_whatever_names_something_of_ours(path: str) -> None:
    """Members, groups, archives and agents are offered, wherever one is asked for. Red when a verb forgets to."""
    ours = re.compile(r"MEMBER|GROUP|ARCHIVE|TARGET|AGENT|A\[")
    named = [one for one in VERBS[path].params if ours.search(one.metavar or "")]
    asked = [one for one in named if one.name != "name"]  # of a new group
    assert [one.name for one in asked if one._custom_shell_complete is None] == []
