"""The words of docs/design.md as values. All times are seconds since the epoch, UTC."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from msgspec import Struct


class State(StrEnum):
    """What an agent is doing."""

    STARTING = "starting"
    NEEDS_INPUT = "needs_input"
    WORKING = "working"
    REST = "rest"
    LIMITED = "limited"
    ERRORED = "errored"
    EXITED = "exited"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """What an agent in `needs_input` waits for. All but `question` are dialogs."""

    TRUST = "trust"
    LOGIN = "login"
    PERMISSION = "permission"
    CHOICE = "choice"
    QUESTION = "question"


class Turn(StrEnum):
    """Whether the work that was asked for has been done."""

    NONE = "none"
    RUNNING = "running"
    DONE = "done"


class Status(StrEnum):
    """Where a delivery stands."""

    PENDING = "pending"
    SENT = "sent"
    NOT_SENT = "not_sent"


class Typed(StrEnum):
    """Whether text of ours reached the pane."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


class Step(StrEnum):
    """How far the making of a member has come; recorded before each step is taken."""

    PLANNED = "planned"
    WORKTREE = "worktree"
    SETUP = "setup"
    SESSION = "session"
    READY = "ready"
    FAILED = "failed"
    REMOVED = "removed"


class Witness(StrEnum):
    """Evidence, best first."""

    REPORT = "report"
    SIGNAL = "signal"
    SCREEN = "screen"
    PROCESS = "process"


class Span(Struct, frozen=True):
    """A run of cells of one style: columns `start` up to `end` (in characters) of its line.

    `style` holds words such as `dim`, `reverse`, `fg246`, separated by blanks; plain cells have no span.
    """

    start: int
    end: int
    style: str


class Line(Struct, frozen=True):
    """One row of a screen, trailing blanks removed."""

    text: str
    spans: tuple[Span, ...] = ()


class Pane(Struct, frozen=True):
    """What one `list-panes` line says about a pane of ours."""

    id: str
    session: str
    session_id: str
    launch: str
    pid: int
    command: str
    title: str
    dead: bool
    exit_status: int | None
    in_mode: bool
    cursor: tuple[int, int]
    cursor_shown: bool
    size: tuple[int, int]


class Look(Struct, frozen=True):
    """One reading of a pane: its state and the visible screen, top to bottom, at one moment."""

    pane: Pane
    lines: tuple[Line, ...]
    at: float


class Report(Struct, frozen=True):
    """What an agent's own hook told us. `payload` is the hook's standard input, cut to a bound."""

    seq: int
    member: str
    launch: str
    state: State
    kind: str
    at: float
    payload: str


class Group(Struct, frozen=True):
    """What one `fan` call made. `ended_at` is set once no member is left."""

    id: str
    stem: str
    repo: Path
    base: str
    base_oid: str
    prompt: str
    created_at: float
    creator_pid: int
    creator_started: float
    ended_at: float | None = None


class Member(Struct, frozen=True):
    """One of a group. `n` counts from 1; `failure` says in a sentence why `step` is `failed`.

    `agent` is empty for one without an agent. `pid` is its pane's process; until it has a `pane`, that of its maker
    where it joined its group later. `conversation` is the agent's own id of the talk that this launch goes on with.
    An `adopted` member's branch was there before it, and mostly its worktree too. A `briefed` one's agent is launched
    with what its recipe allows.
    """

    id: str
    group: str
    n: int
    branch: str
    path: Path
    session: str
    agent: str
    variant: str
    base_oid: str
    step: Step
    failure: str = ""
    warning: str = ""
    pane: str = ""
    launch: str = ""
    pid: int = 0
    pid_started: float = 0.0
    launched_at: float | None = None
    hold: bool = False
    removed_at: float | None = None
    conversation: str = ""
    adopted: bool = False
    inbox: str = ""
    briefed: bool = False

    @property
    def address(self) -> str:
        """Where its mail lies: an inbox of this incarnation's own, unless a resume has kept an earlier one."""
        return self.inbox or self.launch

    @property
    def asked_for(self) -> str:
        """Its agent as a person names it: `agent` or `agent:option`; empty without one."""
        return f"{self.agent}:{self.variant}" if self.variant else self.agent


class Phase(StrEnum):
    """Where `core.delivery` stands with a delivery; said there."""

    WAITING = "waiting"
    LOADED = "loaded"
    PASTING = "pasting"
    ECHO = "echo"
    PRESSING = "pressing"
    PROVING = "proving"
    WATCHING = "watching"
    DONE = "done"


class Purpose(StrEnum):
    """What a delivery is for: `wake` is a line of ours that tells of mail, which is nobody's prompt."""

    PROMPT = "prompt"
    ASK = "ask"
    WAKE = "wake"


class Delivery(Struct, frozen=True):
    """One prompt's way to one member.

    `first` is the prompt a member was made for: a question of the agent's is then no rest.
    """

    id: int
    member: str
    text: str
    created_at: float
    status: Status = Status.PENDING
    phase: Phase = Phase.WAITING
    typed: Typed = Typed.NO
    note: str = ""
    guards: str = ""
    command: bool = False
    first: bool = False
    patience: float = 600.0
    waited: float = 0.0
    stepped_at: float | None = None
    pasted_at: float | None = None
    pressed_at: float | None = None
    presses: int = 0
    done_at: float | None = None
    ready_by: str = ""
    evidence: str = ""
    seen_at: float | None = None
    report_seq: int = 0
    before: str = ""
    purpose: Purpose = Purpose.PROMPT


class Change(Struct, frozen=True):
    """A member's state as last recorded, and since when."""

    member: str
    state: State
    kind: str
    detail: str
    decided_by: str
    since: float


class Row(Struct, frozen=True):
    """What `fan ls` shows of a member; the JSON keys are these names.

    `untrusted` says that `detail` or `prompt_note` repeats words of the agent's.
    """

    id: str
    session: str
    pane: str
    repo: str
    branch: str
    path: str
    base: str
    group: str
    agent: str
    state: str
    kind: str
    turn: str
    since: float | None
    prompt_status: str
    prompt_note: str
    typed: str
    prompt_at: float | None
    ready_by: str
    changes: int | None
    ahead: int | None
    gone: bool
    unread: int = 0
    managed: bool = True
    detail: str = ""
    untrusted: bool = False
