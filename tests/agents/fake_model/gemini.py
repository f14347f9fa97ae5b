"""Gemini's generateContent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.agents.fake_model.request import Request
from tests.agents.fake_model.script import Act, Call, Cut, Say
from tests.agents.fake_model.wire import Chunk, new_id, sse


class Gemini:
    """`POST /v1beta/models/M:generateContent` and `:streamGenerateContent`."""

    def whole(self, request: Request, text: str, calls: Sequence[Call]) -> dict[str, Any]:
        """One candidate with all its parts."""
        return _candidate(request, [{"text": text}, *map(_function_call, calls)], "STOP")

    def stream(self, request: Request, acts: Sequence[Act]) -> Iterator[Chunk]:
        """One candidate a part."""
        for act in acts:
            if isinstance(act, Cut):
                yield None
                return
            if isinstance(act, Say):
                yield sse(_candidate(request, [{"text": act.text}])), act.pause
            else:
                yield sse(_candidate(request, [_function_call(act)])), 0
        yield sse(_candidate(request, [{"text": ""}], "STOP")), 0


def _function_call(call: Call) -> dict[str, Any]:
    return {"functionCall": {"name": call.tool, "args": call.arguments, "id": new_id("call")}}


def _candidate(request: Request, parts: list[dict[str, Any]], finish: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "modelVersion": request.model,
        "responseId": new_id("resp"),
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
    }
