"""How calls of `fan mcp` end: answered, given up, or with the one who called."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.wait import eventually

pytest.importorskip("mcp")


class Client:
    """An agent's end of the two pipes; speaks the protocol by hand, so that it can leave in the middle."""

    def __init__(self, fan: Fan) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp"],
            env=fan.env,
            cwd=fan.repos.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.say("initialize", about, 1)
        self.hear()
        self.say("notifications/initialized", {})

    def say(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        """Send one message; with a number it is a request."""
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")

    def call(self, number: int, tool: str, **given: Any) -> None:
        """Call a tool."""
        self.say("tools/call", {"name": tool, "arguments": given}, number)

    def hear(self) -> Any:
        """The next answer."""
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def leave(self) -> int:
        """Close the server's input; its exit code, which has to be there at once."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(10)


@pytest.fixture
def client(fan: Fan) -> Iterator[Client]:
    """A client whose server does not outlive the test."""
    made = Client(fan)
    yield made
    made.process.kill()
    made.process.wait()
    for stream in (made.process.stdin, made.process.stdout, made.process.stderr):
        if stream:
            with suppress(BrokenPipeError):
                stream.close()


def waiters(fan: Fan) -> list[str]:
    """The inboxes that somebody waits at."""
    folder = fan.runtime / "waiters"
    return [file.name for file in folder.iterdir()] if folder.is_dir() else []


def test_the_server_ends_with_its_input_also_during_a_wait(fan: Fan, client: Client) -> None:
    """Goes red when a wait has to come to its end first, here after ten minutes."""
    client.call(2, "wait_message", timeout=600)
    eventually(lambda: waiters(fan), within=10)
    assert client.leave() == 0
    assert waiters(fan) == []


def test_a_cancelled_wait_stops_and_the_server_goes_on(fan: Fan, client: Client) -> None:
    """Nobody stands at the inbox any more, and the next call is answered."""
    client.call(2, "wait_message", timeout=600)
    eventually(lambda: waiters(fan), within=10)
    client.say("notifications/cancelled", {"requestId": 2})
    eventually(lambda: not waiters(fan), within=5)
    client.call(3, "wait_message", timeout=0)
    assert client.hear()["id"] == 3
    assert client.leave() == 0


def test_mail_whose_reader_has_left_stays_unread(fan: Fan, client: Client) -> None:
    """What could not be written to the client does not count as read.

    Goes red when it is marked while it is answered.
    """
    assert fan.run("mail", "send", "human", "Hello").code == 0
    assert client.process.stdout
    client.process.stdout.close()
    client.call(2, "mail_read", unread=True)
    assert client.leave() == 0
    assert client.process.stderr
    assert "Traceback" not in client.process.stderr.read()
    assert [one["body"] for one in fan.run("mail", "read", "--unread", "--json").json["messages"]] == ["Hello"]


def test_mail_that_was_written_out_is_marked(fan: Fan, client: Client) -> None:
    """The next read of what is unread is empty."""
    assert fan.run("mail", "send", "human", "Hello").code == 0
    client.call(2, "mail_read", unread=True)
    assert "Hello" in client.hear()["result"]["content"][0]["text"]
    client.call(3, "mail_read", unread=True)
    assert json.loads(client.hear()["result"]["content"][0]["text"])["messages"] == []


def test_a_tool_that_marks_does_not_say_that_it_only_reads(client: Client) -> None:
    """Waiting marks nothing; reading, sending and replying change something."""
    client.say("tools/list", {}, 2)
    tools = client.hear()["result"]["tools"]
    assert [one["name"] for one in tools if one["annotations"]["readOnlyHint"]] == ["wait_message"]
