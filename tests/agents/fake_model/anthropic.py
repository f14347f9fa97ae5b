"""Anthropic messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.agents.fake_model.request import Request
from tests.agents.fake_model.script import Act, Call, Cut, Say
from tests.agents.fake_model.wire import Chunk, calls_in, new_id, sse


class Anthropic:
    """`POST /v1/messages`."""

    def whole(self, request: Request, text: str, calls: Sequence[Call]) -> dict[str, Any]:
        """One message with everything in it."""
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        content += [_tool_use(call, call.arguments) for call in calls]
        return {
            "id": new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": content,
            "stop_reason": _stop_reason(calls),
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }

    def stream(self, request: Request, acts: Sequence[Act]) -> Iterator[Chunk]:
        """Blocks of text and tool calls, each opened, filled and closed."""
        yield _event("message_start", message=self.whole(request, "", []) | {"stop_reason": None})
        index, is_open = 0, False
        for act in acts:
            if isinstance(act, Cut):
                yield None
                return
            if isinstance(act, Say):
                if not is_open:
                    yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
                    is_open = True
                delta = {"type": "text_delta", "text": act.text}
                yield _event("content_block_delta", act.pause, index=index, delta=delta)
                continue
            if is_open:
                yield _event("content_block_stop", index=index)
                index, is_open = index + 1, False
            yield from _called(index, act)
            index += 1
        if is_open:
            yield _event("content_block_stop", index=index)
        end = {"stop_reason": _stop_reason(calls_in(acts)), "stop_sequence": None}
        yield _event("message_delta", delta=end, usage={"output_tokens": 20})
        yield _event("message_stop")


def _called(index: int, call: Call) -> Iterator[Chunk]:
    yield _event("content_block_start", index=index, content_block=_tool_use(call, {}))
    arguments = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    yield _event("content_block_delta", index=index, delta=arguments)
    yield _event("content_block_stop", index=index)


def _tool_use(call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": new_id("toolu"), "name": call.tool, "input": arguments}


def _stop_reason(calls: Sequence[Call]) -> str:
    return "tool_use" if calls else "end_turn"


def _event(kind: str, pause: float = 0.0, /, **fields: object) -> Chunk:
    return sse({"type": kind, **fields}, kind), pause
