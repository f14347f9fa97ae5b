"""OpenAI responses."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tests.agents.fake_model.request import Request
from tests.agents.fake_model.script import Act, Call, Cut, Say
from tests.agents.fake_model.wire import Chunk, new_id, sse

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}

Item = dict[str, Any]


class Responses:
    """`POST /v1/responses`."""

    def whole(self, request: Request, text: str, calls: Sequence[Call]) -> dict[str, Any]:
        """One response with all its items."""
        output = [_message(new_id("msg"), text)] if text else []
        return _response(request, "completed", output + [_call(request, call) for call in calls])

    def stream(self, request: Request, acts: Sequence[Act]) -> Iterator[Chunk]:
        """Numbered events: each item is added, filled and done."""
        return _Stream(request).run(acts)


class _Stream:
    """One streamed response: what is finished, and the message that is being written."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.numbers = itertools.count(1)
        self.output: list[Item] = []
        self.message, self.text = "", ""

    def run(self, acts: Sequence[Act]) -> Iterator[Chunk]:
        head = _response(self.request, "in_progress", [])
        yield self.event("response.created", response=head)
        yield self.event("response.in_progress", response=head)
        for act in acts:
            if isinstance(act, Cut):
                yield None
                return
            if isinstance(act, Say):
                yield from self.say(act)
            else:
                yield from self.close_message()
                yield from self.call(act)
        yield from self.close_message()
        done = _response(self.request, "completed", self.output) | {"id": head["id"]}
        yield self.event("response.completed", response=done)

    def say(self, act: Say) -> Iterator[Chunk]:
        place = {"output_index": len(self.output)}
        if not self.message:
            self.message, self.text = new_id("msg"), ""
            item = _message(self.message, "") | {"status": "in_progress", "content": []}
            yield self.event("response.output_item.added", item=item, **place)
            part = {"item_id": self.message, "content_index": 0, "part": _part("")}
            yield self.event("response.content_part.added", **part, **place)
        self.text += act.text
        delta = {"item_id": self.message, "content_index": 0, "delta": act.text}
        yield self.event("response.output_text.delta", act.pause, **delta, **place)

    def close_message(self) -> Iterator[Chunk]:
        if not self.message:
            return
        item = _message(self.message, self.text)
        where = {"item_id": self.message, "output_index": len(self.output), "content_index": 0}
        yield self.event("response.output_text.done", **where, text=self.text)
        yield self.event("response.content_part.done", **where, part=_part(self.text))
        yield self.event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)
        self.message = ""

    def call(self, act: Call) -> Iterator[Chunk]:
        item, index = _call(self.request, act), len(self.output)
        yield self.event("response.output_item.added", output_index=index, item=item | {"status": "in_progress"})
        if item["type"] == "function_call":
            where = {"item_id": item["id"], "output_index": index}
            yield self.event("response.function_call_arguments.delta", **where, delta=item["arguments"])
            yield self.event("response.function_call_arguments.done", **where, arguments=item["arguments"])
        yield self.event("response.output_item.done", output_index=index, item=item)
        self.output.append(item)

    def event(self, kind: str, pause: float = 0.0, /, **fields: Any) -> Chunk:
        return sse({"type": kind, "sequence_number": next(self.numbers), **fields}, kind), pause


def _response(request: Request, status: str, output: list[Item]) -> Item:
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": request.model,
        "output": output,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "usage": USAGE if status == "completed" else None,
    }


def _message(name: str, text: str) -> Item:
    return {"type": "message", "id": name, "role": "assistant", "status": "completed", "content": [_part(text)]}


def _part(text: str) -> Item:
    return {"type": "output_text", "text": text, "annotations": []}


def _call(request: Request, call: Call) -> Item:
    common = {"call_id": new_id("call"), "name": call.tool, "status": "completed"}
    if request.tools.get(call.tool, {}).get("custom"):
        text = str(call.arguments.get("input", ""))
        return {"type": "custom_tool_call", "id": new_id("ctc"), **common, "input": text}
    return {"type": "function_call", "id": new_id("fc"), **common, "arguments": json.dumps(call.arguments)}
