"""`fan mcp`: mail and waiting as tools."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fan.core.mail import LARGEST_BODY
from fan.mcp import server
from fan.mcp.table import TOOLS
from fan.mcp.wire import Line
from tests.support.cli import PROGRAM, Fan
from tests.support.members import start

anyio = pytest.importorskip("anyio")
SECRET = "hunter2-do-not-repeat"


@pytest.fixture
def at_home(fan: Fan, monkeypatch: pytest.MonkeyPatch) -> Fan:
    """This process as a script of that home."""
    for name, value in fan.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(fan.repos.home)
    return fan


def answer(tool: str, given: dict[str, Any]) -> tuple[str, bool]:
    """A call whose answer has reached its reader."""
    line = Line()
    text, refused = server.answer(tool, given, line)
    for act in line.once_out:
        server.act(act)
    return text, refused


def over_stdio(fan: Fan, talk: Callable[[Any], Awaitable[None]]) -> None:
    """Talk to the server as an agent does: as its parent, through the protocol's own client."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def session() -> None:
        server = StdioServerParameters(command=sys.executable, args=[*PROGRAM[1:], "mcp"], env=fan.env)
        with Path(os.devnull).open("w") as quiet:
            async with stdio_client(server, errlog=quiet) as (read, write), ClientSession(read, write) as client:
                await client.initialize()
                await talk(client)

    anyio.run(session)


def test_an_agent_sends_reads_and_replies_through_the_tools(fan: Fan) -> None:
    """Over standard input and output, with the protocol's own client: a message goes out and a reply comes back.

    Goes red when a tool is missing, when a refusal is no result, or when agents' words are not marked as untrusted.
    """
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d"), "FAN_WAKE": "0"}
    (row,) = start(fan, fan.repos.repo(), 1, "demo", "--name", "box", "Do it")

    async def talk(client: Any) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["mail_send", "mail_read", "mail_reply", "wait_message"]
        assert all(tool.input_schema["additionalProperties"] is False for tool in listed)
        sent = await client.call_tool("mail_send", {"to": row["id"], "text": "Hello"})
        assert not sent.is_error, sent
        receipt = json.loads(sent.content[0].text)["sent"][0]
        assert fan.run("mail", "send", "human", "For you").code == 0
        read = json.loads((await client.call_tool("mail_read", {"inbox": "human"})).content[0].text)
        assert [(one["body"], one["untrusted"]) for one in read["messages"]] == [("For you", True)]
        again = await client.call_tool("mail_reply", {"id": receipt["id"], "text": "And this"})
        assert json.loads(again.content[0].text)["sent"][0]["thread"] == receipt["thread"]
        refused = await client.call_tool("mail_send", {"to": "nobody", "text": "x"})
        assert refused.is_error
        assert json.loads(refused.content[0].text)["error"] == {
            "code": "not_found",
            "message": "there is no member `nobody`",
            "not_done": "nothing was done",
            "hint": "fan ls --all",
        }

    over_stdio(fan, talk)
    bodies = [one["body"] for one in fan.run("mail", "read", row["id"], "--json").json["messages"]]
    assert bodies == ["Hello", "And this"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mail_send", {"to": "human"}),
        ("mail_send", {"to": "human", "text": 3}),
        ("mail_send", {"to": "human", "text": "x", SECRET: SECRET}),
        ("mail_send", {"to": "human", "text": "x", "attach": SECRET}),
        ("mail_send", {"to": "human", "text": "x", "attach": [1]}),
        ("mail_send", {"to": "human", "text": "x", "attach": [f"a\0{SECRET}"]}),
        ("mail_read", {"limit": True}),
        ("mail_read", {"peek": SECRET}),
        ("wait_message", {"timeout": SECRET}),
        ("wait_message", {"timeout": math.nan}),
        ("mail_send", {"to": f"nobody sk-{SECRET}", "text": "x"}),
        ("mail_reply", {"id": f"nothing sk-{SECRET}", "text": "x"}),
        ("mail_send", {"to": "human", "text": "x", "attach": [f"sk-{SECRET}"]}),
        ("no_such_tool", {"text": SECRET}),
        ("mail_send", {"to": "human", "text": SECRET * LARGEST_BODY}),
        ("mail_send", {"to": "human", "text": "  "}),
    ],
)
def test_a_call_that_makes_no_sense_is_a_result_that_says_what_was_not_done(
    at_home: Fan, tool: str, given: dict[str, Any]
) -> None:
    """Whatever is wrong, nothing is sent, and the refusal repeats no words and no secret of the caller's.

    Goes red when the arguments are checked by a library that echoes them, or a name is repeated unmasked.
    """
    text, refused = answer(tool, given)
    error = json.loads(text)["error"]
    assert refused
    assert error["not_done"]
    assert SECRET not in text
    assert at_home.run("mail", "read", "human", "--json").json["messages"] == []


def test_a_fault_of_ours_is_an_answer_and_a_log(at_home: Fan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a tool raises, the server answers, says that it is a bug and where it is written down."""

    def broken(*_given: object) -> object:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setitem(server.NAMES, "mail_read", dataclasses.replace(server.NAMES["mail_read"], run=broken))
    text, refused = answer("mail_read", {})
    (log,) = (at_home.state / "logs").glob("bug-*")
    assert (refused, json.loads(text)["error"]["code"]) == (True, "bug")
    assert str(log) in text
    assert SECRET not in text


def test_waiting_ends_when_mail_is_there_or_the_time_is_up(at_home: Fan) -> None:
    """What is unread already counts, and waiting marks nothing."""
    text, refused = answer("wait_message", {"timeout": 0})
    assert (refused, json.loads(text)["error"]["code"]) == (True, "timed_out")
    assert at_home.run("mail", "send", "human", "Here").code == 0
    for _ in range(2):
        text, refused = answer("wait_message", {"timeout": 5})
        assert (refused, len(json.loads(text)["messages"])) == (False, 1)
    assert json.loads(answer("mail_read", {"unread": True})[0])["messages"][0]["body"] == "Here"
    assert json.loads(answer("mail_read", {"unread": True})[0])["messages"] == []


def test_each_tool_says_what_it_takes() -> None:
    """Names, kinds and descriptions are whole, and there is a key for each that sends."""
    for tool in TOOLS:
        schema = tool.schema()
        assert tool.about
        assert all(part["description"] for part in schema["properties"].values())
        assert set(schema["required"]) <= set(schema["properties"])
        assert ("key" in schema["properties"]) == ("text" in schema["properties"])


def test_without_the_package_it_says_what_to_install(fan: Fan) -> None:
    """One sentence and the command, no traceback."""
    (fan.folder / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    refused = fan.run("mcp", env={"PYTHONPATH": f"{fan.folder}:{fan.env['PYTHONPATH']}"})
    assert (refused.code, "pip install 'worktree-fan[mcp]'" in refused.err) == (1, True), refused
