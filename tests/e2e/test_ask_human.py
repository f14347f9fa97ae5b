"""`fan mail ask-human`: a question with options, its answer, and what a time-out is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PROGRAM, Fan, Result
from tests.support.members import becomes, error, start
from tests.support.puppets import Puppets, Row
from tests.support.tmux import terminal
from tests.support.wait import eventually

OPTIONS = ("--option", "Yes, [drop] it", "--option", "No")


@pytest.fixture
def asker(fan: Fan, puppets: Puppets) -> tuple[Path, Row]:
    """A repository and a puppet at rest."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "--name", "fan/x", "Do it")
    becomes(fan, row, state="rest", turn="done")
    return repo, row


def questions(fan: Fan, where: Path) -> list[dict[str, Any]]:
    """What the person is asked, answered or not."""
    found = fan.run("mail", "read", "human", "--peek", "--json", cwd=where).json["messages"]
    return [one for one in found if one["kind"] == "question"]


def asks(fan: Fan, puppets: Puppets, where: Path, row: Row, *words: str) -> tuple[dict[str, Any], Any]:
    """The question that the member's agent asks now, and its own end when it comes."""
    before = len(questions(fan, where))
    pool = ThreadPoolExecutor(1)
    ended = pool.submit(puppets.runs, row, "mail", "ask-human", *words, within=60)
    eventually(lambda: len(questions(fan, where)) > before, within=15)
    pool.shutdown(wait=False)
    return questions(fan, where)[-1], ended


@pytest.mark.timeout(180)
def test_the_answer_is_what_the_person_chose(fan: Fan, puppets: Puppets, asker: tuple[Path, Row]) -> None:
    """The person sees the question with numbered options and how to answer; a number answers with the option's text,
    which comes to the asker at once. Answered by a script it stands between fence lines. The question is then closed,
    and the answer does not come a second time as mail.

    Red when the number itself is handed on, or when the question stays open.
    """
    repo, row = asker
    question, ended = asks(fan, puppets, repo, row, "Drop [the] old API?", *OPTIONS)
    shown = fan.run("mail", "read", "human", cwd=repo).out
    assert "Drop [the] old API?\nOption 1: Yes, [drop] it\nOption 2: No\n--- end" in shown
    assert f"fan mail reply {question['id']} NUMBER\n" in shown
    assert "its asker waits 1" in shown
    assert fan.run("ls", "--waiting", cwd=repo).err.startswith("1 question waits for you: ")
    assert fan.run("mail", "reply", question["id"], "1", cwd=repo).code == 0
    answer: Result = ended.result(timeout=20)
    assert answer.code == 0, answer.err
    head, opening, body, closing = answer.out.splitlines()
    assert head.endswith(f"from script (verified: none) to question {question['id']}; option 1")
    assert (opening[:3], body, closing[:7]) == ("---", "Yes, [drop] it", "--- end")
    (closed,) = questions(fan, repo)
    assert closed["receipts"]["answered"]
    assert closed["receipts"]["closed"]
    assert fan.run("ls", "--waiting", cwd=repo).err == "nobody waits for you\n"
    assert puppets.runs(row, "mail", "read", "--unread").out == "no mail\n"


@pytest.mark.timeout(180)
def test_words_of_their_own_typed_at_a_terminal(fan: Fan, puppets: Puppets, asker: tuple[Path, Row]) -> None:
    """What is none of the options is handed on as it is; typed at a terminal it is the person's and is not fenced."""
    repo, row = asker
    question, ended = asks(fan, puppets, repo, row, "Drop the old API?", *OPTIONS, "--json")
    with terminal([*PROGRAM, "mail", "reply", question["id"], "Only [after] Friday"], fan.env) as person:
        eventually(person.ended, within=15)
    answer = ended.result(timeout=20).json
    assert (answer["text"], answer["option"]) == ("Only [after] Friday", None)
    assert (answer["author"], answer["verified"], answer["untrusted"]) == ("human", "process", False)


@pytest.mark.timeout(180)
@pytest.mark.field("B063")
def test_b063_no_answer_is_never_a_yes(fan: Fan, puppets: Puppets, asker: tuple[Path, Row]) -> None:
    """Not answered in time: exit code 6, and it says that this is no yes. The late answer comes in its thread as
    mail to the asker. A question whose asker has been removed: the person is told that nobody will read the answer,
    and is not asked any more.

    Red when a time-out ends with 0, when a late answer is lost, or when it is stored for nobody.
    """
    repo, row = asker
    late = puppets.runs(row, "mail", "ask-human", "Go on?", *OPTIONS, "--timeout", "1", "--json")
    told = error(late.out)
    assert (late.code, told["code"]) == (6, "timed_out")
    assert "never a yes" in told["not_done"]
    (question,) = questions(fan, repo)
    assert question["id"] in told["message"]
    assert "its asker waits no longer" in fan.run("mail", "read", "human", cwd=repo).out
    assert fan.run("mail", "reply", question["id"], "2", cwd=repo).code == 0
    (answer,) = puppets.runs(row, "mail", "read", "--unread", "--json").json["messages"]
    assert (answer["thread"], answer["body"], answer["reply_to"]) == (question["id"], "No", question["id"])

    puppets.runs(row, "mail", "ask-human", "And now?", "--timeout", "1")
    assert fan.run("rm", row["id"], cwd=repo).code == 0
    question = questions(fan, repo)[-1]
    assert fan.run("ls", "--waiting", cwd=repo).err.startswith("1 question waits for you: ")
    refused = fan.run("mail", "reply", question["id"], "1", "--json", cwd=repo)
    assert (refused.code, error(refused.out)["code"]) == (1, "undeliverable")
    assert "fan/x:1 (puppet) has no inbox any more" in error(refused.out)["message"]
    assert fan.run("ls", "--waiting", cwd=repo).err == "nobody waits for you\n"


@pytest.mark.timeout(180)
def test_who_may_ask_and_what(fan: Fan, puppets: Puppets, asker: tuple[Path, Row]) -> None:
    """A person would ask themselves, a script has no inbox for the answer; options and times out of bounds are
    refused. Nothing is stored. A peer's reply to the question is not taken for the person's answer."""
    repo, row = asker
    with terminal([*PROGRAM, "mail", "ask-human", "Am I it?"], fan.env) as person:
        eventually(person.ended, within=15)
    assert b"you are the person who would be asked" in person.seen
    refused = fan.run("mail", "ask-human", "Anybody?", "--json", cwd=repo)
    assert (refused.code, error(refused.out)["code"]) == (1, "undeliverable")
    for words, code in (
        (("--option", "a", "--option", "A"), "usage"),
        (("--option", ""), "usage"),
        (("--timeout", "3601"), "usage"),
        (("--timeout", "0"), "usage"),
        (tuple(word for n in range(10) for word in ("--option", str(n))), "too_large"),
    ):
        assert error(puppets.runs(row, "mail", "ask-human", "Well?", *words, "--json").out)["code"] == code
    assert error(puppets.runs(row, "mail", "ask-human", " ", "--json").out)["code"] == "empty"
    assert questions(fan, repo) == []

    question, ended = asks(fan, puppets, repo, row, "Go on?", "--timeout", "6")
    (peer,) = start(fan, repo, 1, "puppet", "--name", "fan/y", "Do it")
    assert puppets.runs(peer, "mail", "send", row["id"], "Yes", "--reply-to", question["id"]).code == 0
    assert ended.result(timeout=20).code == 6
    assert questions(fan, repo)[0]["receipts"]["answered"] is None
