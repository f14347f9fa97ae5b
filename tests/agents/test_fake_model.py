"""The fake model answers as scripted, in each API, and knows what was asked of it."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from tests.agents.fake_model.server import FakeModel

BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("/v1/messages", {"messages": [{"role": "user", "content": "PROMPT"}], "tools": [{"name": "Bash"}]}),
    "chat": (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": "PROMPT"}], "tools": [{"function": {"name": "Bash"}}]},
    ),
    "responses": ("/v1/responses", {"input": "PROMPT", "tools": [{"type": "function", "name": "Bash"}]}),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {"contents": [{"parts": [{"text": "PROMPT"}]}], "tools": [{"functionDeclarations": [{"name": "Bash"}]}]},
    ),
}
STREAMS = {"gemini": "/v1beta/models/m:streamGenerateContent"}


def post(model: FakeModel, path: str, body: Any) -> tuple[int, str]:
    """Status and text of one answer."""
    client = http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
    try:
        client.request("POST", path, json.dumps(body), {"User-Agent": "tester"})
        answer = client.getresponse()
        return answer.status, answer.read().decode()
    finally:
        client.close()


def ask(model: FakeModel, api: str, prompt: str, *, stream: bool = False) -> tuple[int, str]:
    """Status and text of the answer to one prompt."""
    path, body = BODIES[api]
    worded = json.loads(json.dumps(body).replace("PROMPT", prompt)) | {"stream": stream}
    return post(model, STREAMS.get(api, path) if stream else path, worded)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", BODIES)
def test_every_api_says_and_calls_what_is_scripted(api: str, stream: bool) -> None:
    """Text and tool calls arrive in all four APIs, whole and streamed, and the prompts are counted."""
    with FakeModel() as model:
        assert "exactly this" in ask(model, api, "%say=exactly this%", stream=stream)[1]
        called = ask(model, api, "%bash=touch made.txt%", stream=stream)[1]
        assert "Bash" in called
        assert "touch made.txt" in called
        assert model.prompts(agent="tester") == ["%say=exactly this%", "%bash=touch made.txt%"]
        assert model.prompts(agent="another") == []


def test_switches_and_directives_make_errors() -> None:
    """An error comes where the prompt scripts one, and for all requests while the switch is set."""
    with FakeModel() as model:
        assert ask(model, "anthropic", "%status=529%")[0] == 529
        assert ask(model, "anthropic", "hello")[0] == 200
        model.switch(status=429, message="no more", headers={"retry-after": "60"})
        status, text = ask(model, "anthropic", "hello")
        assert (status, "no more" in text) == (429, True)


def test_an_aside_is_not_a_prompt() -> None:
    """What an agent asks for itself, and the answer to a tool's result, do not count as prompts."""
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]
    with FakeModel() as model:
        post(model, "/v1/messages", {"system": "Write a title", "messages": [{"role": "user", "content": "hello"}]})
        post(model, "/v1/messages", {"tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": result}]})
        assert model.prompts() == []
