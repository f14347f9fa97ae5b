"""Members in a sandbox: the command line is left in a folder, and the courier answers beside it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fan.cli import requests as client
from fan.core.model import Member, Step
from fan.core.requests import Request
from fan.courier import requests as courier
from fan.errors import TimedOut
from fan.world import requests
from fan.world.store.records import Store
from fan.world.world import open_world
from tests.support.cli import Fan, Result
from tests.support.members import start
from tests.support.wait import eventually

ID = "00000000deadbeef"


@dataclass
class Boxed:
    """Two resting members; `one` also as its sandbox leaves it: without store, with a folder for requests."""

    fan: Fan
    rows: list[dict[str, Any]]

    @property
    def folder(self) -> Path:
        """The folder for requests of the first one."""
        return Path(self.fan.state, "members", self.rows[0]["id"], "requests")

    @property
    def tree(self) -> Path:
        """Its worktree."""
        return Path(self.rows[0]["path"])

    @property
    def env(self) -> dict[str, str]:
        """What its commands see: as another could claim, the names of the second member."""
        nowhere = self.fan.folder / "nowhere"
        # Root may open whatever has a mode: a folder it cannot open as a file either.
        (nowhere / "fan.sqlite3").mkdir(parents=True, exist_ok=True)
        return {"FAN_STATE_DIR": str(nowhere), "FAN_REQUESTS": str(self.folder), "FAN_MEMBER": self.rows[1]["id"]}

    def run(self, *words: str, cwd: Path | None = None, stdin: str = "", timeout: float = 40) -> Result:
        """One command line from inside."""
        return self.fan.run(*words, cwd=cwd or self.tree, env=self.env, stdin=stdin, timeout=timeout)

    def mail(self, inbox: str = "human") -> list[dict[str, Any]]:
        """What lies in an inbox, as a person sees it."""
        read = self.fan.run("mail", "read", inbox, "--peek", "--json", cwd=self.tree)
        assert read.code == 0, read.err
        messages: list[dict[str, Any]] = read.json["messages"]
        return messages

    def leave(self, name: str, data: bytes) -> None:
        """Put a file into the folder as a hostile member would."""
        part = self.folder / f".{name}"
        part.write_bytes(data)
        part.rename(self.folder / name)

    def answered(self, request_id: str) -> None:
        """Waits until the answer is there."""
        eventually((self.folder / f"{request_id}.answer").exists, within=30)

    def gone(self, *names: str) -> None:
        """Waits until these are no longer there."""
        eventually(lambda: not any(os.path.lexists(self.folder / name) for name in names), within=15)


@pytest.fixture
def boxed(fan: Fan) -> Iterator[Boxed]:
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d"), "FAN_WAKE": "0"}
    yield Boxed(fan, start(fan, fan.repos.repo(), 2, "demo", "--name", "box", "Do it"))


def test_mail_goes_and_comes_as_if_there_were_no_sandbox(boxed: Boxed) -> None:
    """Sent, read, answered and handed over through the folder; streams and exit codes are those of the verb.

    Goes red when nobody answers, when an answer's bytes change, or when the folder is not private.
    """
    (boxed.tree / "r.bin").write_bytes(bytes(range(256)))
    sent = boxed.run("mail", "send", "human", "-", "--attach", "r.bin", "--json", stdin="It is done: é.\n")
    assert (sent.code, sent.err) == (0, ""), sent
    (message,) = boxed.mail()
    assert (message["body"], message["verified"]) == ("It is done: é.", "folder")
    assert message["id"] == sent.json["sent"][0]["id"]
    assert Path(message["attachments"][0]["path"]).read_bytes() == bytes(range(256))
    assert boxed.fan.run("mail", "reply", message["id"], "Thanks.").code == 0
    assert "Thanks." in boxed.run("mail", "read", "--unread").out
    assert boxed.run("mail", "read", "--unread").out == "no mail\n"
    assert boxed.run("mail", "send", "box:2", "Hello you").code == 0
    assert boxed.mail("box:2")[-1]["verified"] == "folder"
    refused = boxed.run("mail", "send", "nobody", "x", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_found")
    assert boxed.folder.stat().st_mode & 0o777 == 0o700
    assert list(boxed.folder.iterdir()) == []


def test_the_stash_is_reached_through_the_folder(boxed: Boxed) -> None:
    """Put, listed and fetched byte for byte; written to a file only by who sits in the sandbox itself."""
    data = os.urandom(300_000)
    (boxed.tree / "sub").mkdir()
    (boxed.tree / "sub/f").write_bytes(data)
    put = boxed.run("stash", "put", "f", "--json", cwd=boxed.tree / "sub").json
    assert put["id"] in boxed.run("stash", "ls").out
    assert boxed.run("stash", "get", put["id"], "-o", "copy").code == 1
    assert not (boxed.tree / "copy").exists()
    store = Store(boxed.fan.state)
    assert [one.size for one in store.stashed()] == [300_000]
    store.close()
    assert Path(put["path"]).read_bytes() == data


def test_who_it_is_is_told_by_the_folder_alone(boxed: Boxed) -> None:
    """Neither variables nor words nor another's folder make it somebody else.

    Goes red when the stamp comes from FAN_MEMBER, from --from, or from anything that a request says.
    """
    assert boxed.run("mail", "send", "human", "x", "--from", "box:2").code == 0
    (message,) = boxed.mail()
    assert (message["author"], message["claim"], message["verified"]) == (message["author"], "box:2", "folder")
    assert message["author"].removeprefix("fan/").startswith("box:1")
    assert boxed.run("mail", "send", "human", "x", "--from", "human").code == 1
    lying = {"words": ["mail", "send", "human", "y"], "cwd": "/", "stdin": "", "member": boxed.rows[1]["id"]}
    boxed.leave(f"{ID}.request", json.dumps(lying).encode())
    boxed.answered(ID)
    assert json.loads((boxed.folder / f"{ID}.answer").read_text())["code"] == 2
    assert len(boxed.mail()) == 1


REFUSED = ["ask box:2 hello", "stash rm 1234", "ls --watch", "events --follow", "keep box:1", "rm box:1", "undo"]
REFUSED += ["send box:2 x", "why box:1", "config approve", "2 --agent demo x", "worktree new x", "archive ls"]


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_not_on_the_list_is_refused(boxed: Boxed, line: str) -> None:
    """It is told so with the code of every such refusal, and nothing is done.

    Goes red when a verb that the courier does not run goes for the store, and tells that it cannot open it.
    """
    refused = boxed.run(*line.split(), "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_allowed")
    assert "nothing was done" in refused.json["error"]["not_done"]
    assert refused.json["error"]["hint"].endswith("fan mail send human 'what you need and why'")


def test_it_reads_no_file_and_enters_no_repository_that_it_could_not(boxed: Boxed) -> None:
    """The answerer may do more than who asks: a path outside is not handed over, a folder outside not entered.

    Goes red when the answerer goes wherever a request says it stands: git would read that repository's settings.
    """
    secret = boxed.fan.repos.home / "secret"
    secret.write_text("s")
    (boxed.tree / "link").symlink_to(secret)
    for path in (str(secret), "link", f"../../../home/{secret.name}"):
        refused = boxed.run("mail", "send", "human", "x", "--attach", path, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (1, "not_allowed"), path
    mark = boxed.fan.folder / "mark"
    evil = boxed.fan.repos.repo("evil")
    boxed.fan.repos.git(evil, "config", "core.fsmonitor", f"touch {mark}; false")
    nested = boxed.tree / "nested"
    boxed.fan.repos.git(boxed.tree, "init", "-q", str(nested))
    boxed.fan.repos.git(nested, "config", "core.fsmonitor", f"touch {mark}; false")
    for place in (evil, nested):
        listed = boxed.run("ls", "--json", cwd=place)
        assert {row["repo"] for row in listed.json} == {str(boxed.rows[0]["repo"])}
    assert not mark.exists()
    assert boxed.mail() == []


def test_done_again_after_a_crash_it_is_sent_once(boxed: Boxed) -> None:
    """Killed between doing and answering, the request is there again as it was: one message, one answer.

    Goes red when a request's send has no key of its own.
    """
    words = ("mail", "send", "human", "once")
    for ending in ("request", "taken"):
        data = json.dumps({"words": words, "cwd": str(boxed.tree), "stdin": ""}).encode()
        boxed.leave(f"{ID}.{ending}", data)
        boxed.answered(ID)
        answer = requests.answered(boxed.folder, ID)
        assert answer and answer.code == 0, answer
        boxed.gone(f"{ID}.request", f"{ID}.taken")
    assert [one["body"] for one in boxed.mail()] == ["once"]


def test_mail_that_was_read_for_nobody_stays_unread(boxed: Boxed) -> None:
    """Whoever asked is gone before the answer comes: what it says is not marked as read, and is read the next time.

    Goes red when the answerer marks what it has only written for nobody to fetch.
    """
    assert boxed.fan.run("mail", "send", "box:1", "Important").code == 0
    request = {"words": ["mail", "read", "--unread"], "cwd": str(boxed.tree), "stdin": ""}
    boxed.leave(f"{ID}.request", json.dumps(request).encode())
    boxed.answered(ID)
    assert "Important" in boxed.run("mail", "read", "--unread").out
    assert [one["receipts"]["read"] is None for one in boxed.mail("box:1")] == [False]


def test_a_question_to_the_person_is_answered_through_the_folder(boxed: Boxed) -> None:
    """`ask-human` waits inside for the answer that the person gives outside."""
    boxed.leave(
        f"{ID}.request",
        json.dumps({"words": ["mail", "ask-human", "May I?", "--option", "Yes"], "cwd": "/", "stdin": ""}).encode(),
    )
    eventually(boxed.mail, within=20, every=0.3)
    (question,) = boxed.mail()
    assert (question["kind"], question["verified"]) == ("question", "folder")
    assert boxed.fan.run("mail", "reply", question["id"], "Yes").code == 0
    boxed.answered(ID)
    answer = requests.answered(boxed.folder, ID)
    assert answer
    assert (answer.code, b"Yes" in answer.stdout) == (0, True)


def test_junk_is_refused_and_hinders_nobody(boxed: Boxed) -> None:
    """Links, fifos, folders, huge and senseless files: each is removed or answered, and good requests go on.

    Goes red when the courier follows a link, waits at a fifo, or dies of a file.
    """
    secret = boxed.fan.repos.home / "secret"
    secret.write_text(json.dumps({"words": ["mail", "send", "human", "stolen"], "cwd": "/", "stdin": ""}))
    (boxed.folder / "1111111111111111.request").symlink_to(secret)
    os.mkfifo(boxed.folder / "2222222222222222.request")
    (boxed.folder / "3333333333333333.request").mkdir()
    (boxed.folder / "3333333333333333.request" / "x").write_text("x")
    boxed.leave("4444444444444444.request", b"\0" * 5_000_000)
    boxed.leave("5555555555555555.request", b'{"words": 3}')
    boxed.leave("6666666666666666.request", b"\xff\xfe")
    boxed.leave("..request", b"{}")
    (boxed.folder / f"{ID}.answer").symlink_to(secret)
    boxed.leave(f"{ID}.request", json.dumps({"words": ["mail", "ls"], "cwd": "/", "stdin": ""}).encode())
    boxed.gone("1111111111111111.request", "2222222222222222.request")
    for number in "456":
        boxed.answered(number * 16)
        assert json.loads((boxed.folder / f"{number * 16}.answer").read_text())["code"] == 2
    eventually(lambda: not (boxed.folder / f"{ID}.answer").is_symlink(), within=15)
    assert "stolen" in secret.read_text()
    assert boxed.run("mail", "send", "human", "fine").code == 0
    assert [one["body"] for one in boxed.mail()] == ["fine"]


def test_what_cannot_be_done_is_not_tried_for_ever(fan: Fan, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is called like a request, or an answerer that dies, costs three tries and no more; what comes
    later is done.

    Goes red when a try counts only while it fails: a sandbox could keep a machine busy by one name.
    """
    monkeypatch.setattr(courier, "ANSWERER", "this")
    world = open_world(fan.env, fan.repos.home)
    member = Member("abcd1234", "g", 1, "b", fan.repos.home, "s", "demo", "", "", Step.READY)
    folder = world.paths.requests(member.id)
    (folder / f"{ID}.request" / "x").mkdir(parents=True)
    looking = courier.Requests(world)

    def tries() -> int:
        looking.answer([member])
        return looking._tries[(member.id, ID)]

    eventually(lambda: tries() == courier.TRIES and not looking._running, within=20)
    for _ in range(20):
        assert tries() == courier.TRIES
        assert not looking._running
    (folder / f"{'1' * 16}.request").write_text("{}")
    looking.answer([member])
    assert list(looking._running) == [(member.id, "1" * 16)]

    def is_idle() -> bool:
        looking.answer([])
        return not looking._running

    eventually(is_idle, within=20)


def test_many_requests_at_once_are_all_answered(boxed: Boxed) -> None:
    """More than are done at a time: none is lost, none doubled."""
    ids = [f"{number:016x}" for number in range(9)]
    for number, one in enumerate(ids):
        request = {"words": ["mail", "send", "human", f"n{number}"], "cwd": str(boxed.tree), "stdin": ""}
        boxed.leave(f"{one}.request", json.dumps(request).encode())
    for one in ids:
        boxed.answered(one)
    assert sorted(one["body"] for one in boxed.mail()) == [f"n{number}" for number in range(9)]


def test_a_report_from_a_sandbox_is_kept_but_moves_nothing(boxed: Boxed) -> None:
    """Who reports from there may be a nested agent: the report is on record with why it does not count."""
    begun = time.monotonic()
    done = boxed.run("report", "working")
    assert (done.code, done.out) == (0, "")
    assert time.monotonic() - begun < 5
    with sqlite3.connect(f"file:{boxed.fan.state}/fan.sqlite3?mode=ro", uri=True) as db:
        asked = "SELECT member FROM reports WHERE state = 'working' AND dropped != ''"
        if Path("/proc/self").exists():
            eventually(lambda: (boxed.rows[0]["id"],) in db.execute(asked).fetchall(), within=15)
    db.close()


def test_without_a_courier_it_says_so_and_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody takes the request: it is withdrawn, so that it is not done behind the back of who was told it is not.

    Goes red when the request stays.
    """
    monkeypatch.setenv("FAN_REQUESTS", str(tmp_path))
    monkeypatch.setattr(client, "TAKEN_WITHIN", 0.3)
    with pytest.raises(TimedOut, match="the courier did not take") as refusal:
        client.forwarded(["mail", "send", "human", "x"])
    assert refusal.value.not_done == "nothing was done"
    assert list(tmp_path.iterdir()) == []


def test_only_one_takes_a_request(tmp_path: Path) -> None:
    """A second answerer finds it locked, also under its new name."""
    requests.leave(tmp_path, ID, Request(("ls",), "/"))
    first = requests.take(tmp_path, f"{ID}.request")
    assert first
    assert requests.take(tmp_path, f"{ID}.request") is None
    assert requests.take(tmp_path, f"{ID}.taken") is None
    assert requests.is_there(tmp_path, ID)
    assert not requests.withdraw(tmp_path, ID)
    assert first.read().words == ("ls",)


def test_what_nobody_came_for_is_swept_after_an_hour(tmp_path: Path) -> None:
    """Old answers and junk go, folders that a sandbox has put there stay."""
    (tmp_path / ".git").mkdir()
    for name in (f"{ID}.answer", "junk"):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "new").write_text("x")
    os.utime(tmp_path / ".git", (0, 0))
    requests.sweep(tmp_path, time.time())
    assert sorted(one.name for one in tmp_path.iterdir()) == [".git", "new"]
