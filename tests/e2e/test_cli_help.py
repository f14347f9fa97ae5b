"""Help: every verb says what it does, shows an example, and can answer in JSON."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from fan.cli.app import program, run
from fan.cli.reference import commands
from fan.cli.routing import COUNT, routed

VERBS: dict[str, Any] = dict(commands(program()))


@pytest.mark.parametrize("path", VERBS)
def test_help_is_a_sentence_and_an_example(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Each verb's help has one sentence and one example line, and the example starts with the verb itself."""
    words = path.split()[1:]
    assert run([*words, "--help"]) == 0
    example = capfd.readouterr().out.split("Example:")[1]
    assert routed(shlex.split(" ".join(example.split()))[1:])[: len(words)] == words
    sentence = VERBS[path].help
    assert sentence.endswith(".")
    assert "\n\n" not in sentence


@pytest.mark.parametrize("path", [path for path in VERBS if path not in ("fan report", "fan mcp")])
def test_every_verb_can_answer_in_json(path: str) -> None:
    """`--json` is an option of each verb but of hooks' silent `report`, and of `mcp`, which speaks nothing else."""
    assert "--json" in {name for param in VERBS[path].params for name in param.opts}


@pytest.mark.parametrize("path", VERBS)
def test_examples_are_parsed(path: str) -> None:
    """What the help shows as an example is a line that the parser takes."""
    words = routed(shlex.split(VERBS[path].epilog.removeprefix("Example: fan ")))
    command = VERBS[path]
    inner = words[len(path.split()) - 1 :]
    assert command.make_context(path, inner, resilient_parsing=False)


def test_the_count_of_a_start_is_read() -> None:
    """`fan 3 ...` reaches the start verb with its number, `fan --agent ...` without one."""
    start = VERBS["fan N"]
    with_count = start.make_context("N", [COUNT, "3", "--agent", "a", "--", "-h", "x"])
    assert (with_count.params["count"], with_count.params["prompt"]) == (3, "-h x")
    without = start.make_context("N", ["--agent", "a,b", "--prompt", "1", "--prompt", "2"])
    assert (without.params["count"], without.params["prompts"]) == (None, ("1", "2"))
