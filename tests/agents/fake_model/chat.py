"""OpenAI chat completions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tests.agents.fake_model.request import Request
from tests.agents.fake_model.script import Act, Call, Cut, Say
from tests.agents.fake_model.wire import Chunk, calls_in, new_id, sse

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


class Chat:
    """`POST /v1/chat/completions`."""

    def whole(self, request: Request, text: str, calls: Sequence[Call]) -> dict[str, Any]:
        """One completion with one choice."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [_tool_call(call) for call in calls]
        choice = {"index": 0, "message": message, "finish_reason": _finish(calls)}
        return _head(request, "chat.completion") | {"choices": [choice], "usage": USAGE}

    def stream(self, request: Request, acts: Sequence[Act]) -> Iterator[Chunk]:
        """Deltas of one choice, then the usage, then the end mark."""
        head = _head(request, "chat.completion.chunk")
        yield _delta(head, {"role": "assistant", "content": ""})
        number = 0
        for act in acts:
            if isinstance(act, Cut):
                yield None
                return
            if isinstance(act, Say):
                yield _delta(head, {"content": act.text}, pause=act.pause)
            else:
                yield _delta(head, {"tool_calls": [{"index": number, **_tool_call(act)}]})
                number += 1
        yield _delta(head, {}, finish=_finish(calls_in(acts)))
        yield sse(head | {"choices": [], "usage": USAGE}), 0
        yield sse("[DONE]"), 0


def _head(request: Request, kind: str) -> dict[str, Any]:
    return {"id": new_id("chatcmpl"), "object": kind, "created": int(time.time()), "model": request.model}


def _delta(head: dict[str, Any], delta: dict[str, Any], *, finish: str | None = None, pause: float = 0.0) -> Chunk:
    return sse(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}), pause


def _tool_call(call: Call) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"id": new_id("call"), "type": "function", "function": function}


def _finish(calls: Sequence[Call]) -> str:
    return "tool_calls" if calls else "stop"
