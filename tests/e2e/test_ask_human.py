"""`fan mail ask-human`: a question with options, its answer, and what a time-out is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PROGRAM, Fan, Result
from tests.support.members import becomes, error, press, start, stop_courier, tmux
from tests.support.puppets import Puppets, Row
from tests.support.tmux import terminal
from tests.support.wait import eventually

WHERE = "fan/x:1 (puppet) finds yours in its inbox, as mail"
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
def test_a_slip_is_no_answer_and_every_way_to_answer_chooses(
    fan: Fan, puppets: Puppets, asker: tuple[Path, Row]
) -> None:
    """A number that no option has is refused, by `reply` and by `send --reply-to`, and the question stays open; then
    the number of an option chooses it, by `send` too.

    Red when the slip is handed on as words of the person's own, or the number that was sent as a number.
    """
    repo, row = asker
    question, ended = asks(fan, puppets, repo, row, "Drop the old API?", *OPTIONS, "--json")
    for words in (("reply", question["id"], "7"), ("send", row["id"], "0", "--reply-to", question["id"])):
        slip = fan.run("mail", *words, "--json", cwd=repo)
        assert (slip.code, slip.json["error"]["not_done"]) == (2, "nothing was sent")
        assert "options are 1 to 2" in slip.json["error"]["message"]
    assert not questions(fan, repo)[0]["receipts"]["answered"]
    assert fan.run("mail", "send", row["id"], "2", "--reply-to", question["id"], cwd=repo).code == 0
    answer = ended.result(timeout=20).json
    assert (answer["text"], answer["option"]) == ("No", 2)
    assert questions(fan, repo)[0]["receipts"]["answered"]


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
    mail to the asker, which the person is told. A question whose asker has been removed is closed with it, courier
    or not, says why and can still be read; the person is told that nobody will read an answer.

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
    replied = fan.run("mail", "reply", question["id"], "2", cwd=repo)
    assert replied.code == 0
    over = f"question {question['id']} was over: its asker waits no longer; {WHERE}\n"
    assert replied.err == over
    (answer,) = puppets.runs(row, "mail", "read", "--unread", "--json").json["messages"]
    assert (answer["thread"], answer["body"], answer["reply_to"]) == (question["id"], "No", question["id"])

    puppets.runs(row, "mail", "ask-human", "And now?", "--timeout", "1")
    assert fan.run("ls", "--waiting", cwd=repo).err.startswith("1 question waits for you: ")
    stop_courier(fan)
    assert fan.run("rm", row["id"], cwd=repo).code == 0
    assert fan.run("ls", "--waiting", cwd=repo).err == "nobody waits for you\n"
    question = questions(fan, repo)[-1]
    assert (question["body"], question["closed"]) == ("And now?", "its member was removed")
    shown = fan.run("mail", "read", "human", cwd=repo).out
    assert "; closed: its member was removed\n--- " in shown
    assert f"fan mail reply {question['id']}" not in shown
    assert fan.run("mail", "read", "human", "--unread", cwd=repo).out == "no mail\n"
    refused = fan.run("mail", "reply", question["id"], "1", "--json", cwd=repo)
    assert (refused.code, error(refused.out)["code"]) == (1, "undeliverable")
    assert "fan/x:1 (puppet) has no inbox any more" in error(refused.out)["message"]


@pytest.mark.timeout(180)
def test_a_second_answer_is_mail_and_says_so(fan: Fan, puppets: Puppets, asker: tuple[Path, Row]) -> None:
    """Whoever answers a question again is told what the first answer was and that theirs is mail now; the same key
    sent again is the first answer still.

    Red when a second answer passes for the one that the asker gets.
    """
    repo, row = asker
    question, ended = asks(fan, puppets, repo, row, "Drop it?", *OPTIONS)
    first = fan.run("mail", "reply", question["id"], "1", "--key", "k", "--json", cwd=repo).json
    assert first["notes"] == []
    assert "; option 1\n" in ended.result(timeout=20).out
    again = fan.run("mail", "reply", question["id"], "1", "--key", "k", "--json", cwd=repo).json
    assert (again["sent"][0]["id"], again["notes"]) == (first["sent"][0]["id"], [])
    second = fan.run("mail", "reply", question["id"], "2", cwd=repo)
    assert second.code == 0
    assert second.err == f"question {question['id']} was answered already: Yes, [drop] it; {WHERE}\n"
    assert "; answered " in fan.run("mail", "read", "human", cwd=repo).out
    (mail,) = puppets.runs(row, "mail", "read", "--unread", "--json").json["messages"]
    assert (mail["body"], mail["reply_to"]) == ("No", question["id"])


@pytest.mark.timeout(180)
def test_the_question_of_an_agent_that_has_left_closes(fan: Fan, puppets: Puppets, asker: tuple[Path, Row]) -> None:
    """Its agent exits: the question leaves the badge by itself, says why, and stays to be read.

    Red when only a removal closes it.
    """
    repo, row = asker
    puppets.runs(row, "mail", "ask-human", "Go on?", "--timeout", "1")
    eventually(lambda: tmux(fan, "show-options", "-gv", "@fan_waiting") == "1", within=10)
    press(fan, row, "C-c")
    becomes(fan, row, state="exited")
    eventually(lambda: tmux(fan, "show-options", "-gv", "@fan_waiting") == "0", within=10)
    (question,) = questions(fan, repo)
    assert (question["body"], question["closed"]) == ("Go on?", "its agent has exited")
    assert fan.run("ls", "--waiting", cwd=repo).err == "nobody waits for you\n"
    refused = fan.run("mail", "reply", question["id"], "Yes", "--json", cwd=repo)
    assert error(refused.out)["code"] == "undeliverable"


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
