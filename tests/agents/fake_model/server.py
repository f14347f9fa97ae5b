"""The server itself: routes, what was asked of it, and the switches that act on all later requests."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from tests.agents.fake_model.anthropic import Anthropic
from tests.agents.fake_model.chat import Chat
from tests.agents.fake_model.gemini import Gemini
from tests.agents.fake_model.request import Request, parse
from tests.agents.fake_model.responses import Responses
from tests.agents.fake_model.script import plan
from tests.agents.fake_model.wire import Dialect, Failure, calls_in, text_in

DIALECTS: dict[str, Dialect] = {
    "anthropic": Anthropic(),
    "chat": Chat(),
    "responses": Responses(),
    "gemini": Gemini(),
}
ROUTES = {
    "/messages": "anthropic",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
COUNTS = {"/count_tokens": {"input_tokens": 100}, ":countTokens": {"totalTokens": 100}}
FAILURES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
MODELS = ("fake-model", "gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro")

Event = dict[str, Any]


@dataclass(frozen=True)
class Switches:
    """What acts on all later requests: an HTTP error, a delay in seconds, silence, headers, an error's words."""

    status: int = 0
    delay: float = 0.0
    hang: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    message: str = ""


class FakeModel:
    """The model on a loopback port while in its `with` block; `log` also gets each event as a JSON line."""

    def __init__(self, port: int = 0, *, log: Path | None = None, dump: Path | None = None) -> None:
        self.switches = Switches()
        self.events: list[Event] = []
        self.dump = dump
        self._log = log
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        self._server.server_activate()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._server.server_port

    def __enter__(self) -> Self:
        self._serve()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.switch(hang=False)
        self._server.shutdown()
        self._server.server_close()

    def switch(self, **changes: Any) -> None:
        """Set switches by name; the others stay."""
        self.switches = replace(self.switches, **changes)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Connections are refused while in this block: the port is bound, and nobody listens on it."""
        self._server.shutdown()
        self._server.server_close()
        self._server = _Server(("127.0.0.1", self.port), self)
        try:
            yield
        finally:
            self._server.server_activate()
            self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def note(self, kind: str, /, **fields: Any) -> None:
        """Add an event to the log."""
        event = {"t": time.time(), "ev": kind, **fields}
        with self._lock:
            self.events.append(event)
            if self._log:
                with self._log.open("a") as file:
                    file.write(json.dumps(event) + "\n")

    def prompts(self, *, agent: str = "", folder: str = "") -> list[str]:
        """What persons said, one for each request that is neither an aside nor the answer to a tool's result.

        `agent` is a part of the client's name, `folder` where the agent says that it works. An agent that tries
        again after an error counts again.
        """
        with self._lock:
            return [event["user"] for event in self.events if _is_prompt(event, agent, folder)]


def _is_prompt(event: Event, agent: str, folder: str) -> bool:
    if event["ev"] != "start" or event["kind"] != "main" or event["after_tool"]:
        return False
    return agent in event["client"] and folder in ("", event["folder"])


class _Server(ThreadingHTTPServer):
    """Bound, and not listening yet."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], model: FakeModel) -> None:
        super().__init__(address, _Handler, bind_and_activate=False)
        self.model = model
        self.server_bind()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Agents are killed in the middle of an answer: only that is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake-model"

    @property
    def model(self) -> FakeModel:
        return cast("_Server", self.server).model

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        """The log, and the list of models."""
        path = self.path.split("?")[0]
        if path == "/_log":
            self._json(self.model.events)
            return
        self.model.note("get", path=self.path)
        if path.endswith("/models"):
            self._json(_models(gemini="v1beta" in path))
        else:
            self._json({"error": {"message": "not found"}}, 404)

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """A request to the model, or to its switches."""
        raw = self._body()
        path = self.path.split("?")[0]
        body = _decoded(raw)
        if path == "/_ctl":
            self.model.switch(**body)
            self._json(body)
            return
        for end, answer in COUNTS.items():
            if path.endswith(end):
                self._json(answer)
                return
        api = next((name for end, name in ROUTES.items() if path.endswith(end)), None)
        if api is None:
            self.model.note("other", path=self.path, bytes=len(raw))
            self._json({"error": {"message": "not found"}}, 404)
            return
        request = parse(api, body)
        if api == "gemini":
            request.stream = ":stream" in path
            request.model = path.split("/models/")[-1].split(":")[0]
        self._serve(request, raw)

    def _serve(self, request: Request, raw: bytes) -> None:
        name = uuid.uuid4().hex[:8]
        if self.model.dump:
            (self.model.dump / f"{time.time_ns()}-{name}.json").write_bytes(raw)
        self.model.note("start", id=name, client=self.headers.get("User-Agent", ""), **_about(request, raw))
        try:
            self._answer(request, name)
            self.model.note("end", id=name)
        except ConnectionError:
            self.model.note("abort", id=name)
            self.close_connection = True

    def _answer(self, request: Request, name: str) -> None:
        time.sleep(self.model.switches.delay)
        while self.model.switches.hang:
            time.sleep(0.1)
        failure = self._failure(request)
        if failure:
            self.model.note("error", id=name, code=failure.code)
            self._json(_worded(request, failure), failure.code)
            return
        todo = plan(request)
        time.sleep(todo.delay)
        self.model.note("first", id=name)
        if request.stream:
            self._stream(request, todo.acts)
        else:
            answer = DIALECTS[request.api].whole(request, text_in(todo.acts), calls_in(todo.acts))
            self._json(answer)

    def _failure(self, request: Request) -> Failure | None:
        switches = self.model.switches
        scripted = "0" if request.is_side else request.directives.get("status", "0")
        code = switches.status or int(scripted)
        kind = FAILURES.get(code, "api_error")
        return Failure(code, kind, switches.message or f"fake error {code}") if code else None

    def _stream(self, request: Request, acts: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self._end_headers()
        self.close_connection = True
        for chunk in DIALECTS[request.api].stream(request, acts):
            if chunk is None:
                self.connection.shutdown(2)
                raise ConnectionAbortedError
            self.wfile.write(chunk[0].encode())
            self.wfile.flush()
            time.sleep(chunk[1])

    def _json(self, value: Any, code: int = 200) -> None:
        text = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self._end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def _end_headers(self) -> None:
        for name, value in self.model.switches.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = b"".join(iter(self._next_part, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(raw) if self.headers.get("Content-Encoding", "").lower() == "gzip" else raw

    def _next_part(self) -> bytes:
        part = self.rfile.read(int(self.rfile.readline().split(b";")[0] or b"0", 16))
        self.rfile.readline()
        return part


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        return cast("dict[str, Any]", json.loads(raw or b"{}"))
    except ValueError:
        return {}


def _about(request: Request, raw: bytes) -> Event:
    return {
        "api": request.api,
        "kind": "aux" if request.is_side else "main",
        "model": request.model,
        "after_tool": request.after_tool,
        "folder": request.folder,
        "user": request.user,
        "bytes": len(raw),
    }


def _worded(request: Request, failure: Failure) -> dict[str, Any]:
    if request.api == "gemini":
        return {"error": {"code": failure.code, "message": failure.message, "status": failure.kind.upper()}}
    error = {"type": failure.kind, "message": failure.message, "code": failure.kind}
    return {"type": "error", "error": error}


def _models(*, gemini: bool) -> dict[str, Any]:
    if gemini:
        return {"models": [{"name": f"models/{name}"} for name in MODELS]}
    data = [
        {"id": name, "object": "model", "created": 1, "owned_by": "fake", "type": "model", "display_name": name}
        for name in MODELS
    ]
    return {"object": "list", "data": data, "models": [], "has_more": False}
