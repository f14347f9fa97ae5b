"""What the four APIs have in common: one request as the script needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

DIRECTIVE = re.compile(r"%(slow|think|bash|write|tool|status|drop|say|after)=(.*?)%(?=\s|$|%|\"|<|[.,;)])", re.DOTALL)
FOLDER = re.compile(r"(?:[Pp]rimary working directory|[Ww]orking directory|cwd)\**[:\s]+`?(/[^\s`<]+)")
SIDE_WORDS = ("title", "summar", "topic", "classif", "commit message", "next speaker")
SUGGESTION = "Reply with ONLY the suggestion"
NOT_THE_PERSON = ("<system-reminder>", "[Request interrupted")

Json = dict[str, Any]


@dataclass
class Request:
    """`user` is what the person last said; `after_tool` that a tool's result is what it ends with."""

    api: str
    model: str
    stream: bool = False
    system: str = ""
    user: str = ""
    after_tool: bool = False
    tools: dict[str, Json] = field(default_factory=dict)
    schema: Json | None = None

    def hear(self, text: str) -> None:
        """The person said something."""
        if text.strip():
            self.user = text
            self.after_tool = False

    @cached_property
    def directives(self) -> dict[str, str]:
        """What the person's words script; the last of a name counts."""
        return dict(DIRECTIVE.findall(self.user))

    @property
    def is_suggestion(self) -> bool:
        """Whether it asks what the person might say next."""
        return SUGGESTION in self.user

    @property
    def is_side(self) -> bool:
        """Whether the agent asks for itself (a title, a summary): never scripted, answered at once."""
        words = " ".join((self.system[:400], self.user[:200], self.user[-200:])).lower()
        asks = self.schema is not None or any(word in words for word in SIDE_WORDS)
        return self.is_suggestion or (not self.tools and asks)

    @property
    def folder(self) -> str:
        """Where the agent says that it works, empty when it does not."""
        found = FOLDER.search(self.system + self.user)
        return found.group(1) if found else ""


def parse(api: str, body: Json) -> Request:
    """The request in `body`, as `api` words it."""
    request = Request(api, str(body.get("model", "fake-model")), bool(body.get("stream")))
    request.schema = _schema(body)
    {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "gemini": _gemini}[api](request, body)
    return request


def text_of(content: object) -> str:
    """The text in a message's content, whatever its shape."""
    return "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _schema(body: Json) -> Json | None:
    """The JSON schema that the answer must fit, where the request names one."""
    config = body.get("generationConfig") or {}
    text = body.get("text")
    shape = body.get("response_format") or body.get("output_format") or (text.get("format") if text else None)
    if not isinstance(shape, dict):
        shape = {}
    named = (shape.get("json_schema") or {}).get("schema") or shape.get("schema")
    return config.get("responseJsonSchema") or config.get("responseSchema") or named


def _anthropic(request: Request, body: Json) -> None:
    request.system = text_of(body.get("system"))
    request.tools = {tool.get("name", ""): tool.get("input_schema") or {} for tool in body.get("tools") or []}
    for message in body.get("messages", []):
        request.after_tool = False
        if message["role"] == "user":
            content = message["content"]
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            request.after_tool = any(part.get("type") == "tool_result" for part in parts)
            # Several prompts without an answer between them come in one message: the last one counts.
            said = [text for text in map(text_of, parts) if not text.lstrip().startswith(NOT_THE_PERSON)]
            request.hear(next((text for text in reversed(said) if text.strip()), ""))


def _chat(request: Request, body: Json) -> None:
    for tool in body.get("tools") or []:
        function = tool.get("function") or tool
        request.tools[function.get("name", "")] = function.get("parameters") or {}
    for message in body.get("messages", []):
        role = message.get("role")
        request.after_tool = role == "tool"
        if role in ("system", "developer"):
            request.system += text_of(message.get("content"))
        elif role == "user":
            request.hear(text_of(message.get("content")))


def _responses(request: Request, body: Json) -> None:
    request.system = body.get("instructions") or ""
    for tool in body.get("tools") or []:
        name = tool.get("name") or tool.get("type", "")
        request.tools[name] = tool.get("parameters") or {"custom": tool.get("type") == "custom"}
    given = body.get("input")
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given or []:
        request.after_tool = str(item.get("type", "message")).endswith("_output")
        text = text_of(item.get("content"))
        if item.get("role") == "user" and not text.lstrip().startswith("<"):
            request.hear(text)


def _gemini(request: Request, body: Json) -> None:
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    request.system = text_of(system.get("parts"))
    for tool in body.get("tools") or []:
        for function in tool.get("functionDeclarations") or []:
            request.tools[function["name"]] = function.get("parametersJsonSchema") or function.get("parameters") or {}
    for message in body.get("contents", []):
        parts = message.get("parts") or []
        request.after_tool = any("functionResponse" in part for part in parts)
        if message.get("role", "user") == "user" and not request.after_tool:
            request.hear(text_of(parts))
