"""What is asked of tmux about a pane, and how its answer becomes a Pane."""

from __future__ import annotations

from msgspec import Struct

from fan.core.model import Pane
from fan.errors import TmuxFailed

_NAMES = (
    "pane_id",
    "session_name",
    "session_id",
    "@fan_launch",
    "pane_pid",
    "pane_current_command",
    "pane_title",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_in_mode",
    "cursor_x",
    "cursor_y",
    "cursor_flag",
    "pane_width",
    "pane_height",
    "window_activity",
)

OURS = "#{==:#{pane_id},#{@fan_pane}}"
"""True for the pane that runs a member's agent."""


class Row(Struct, frozen=True):
    """A pane, and the second (since the epoch, whole) of the last output in its window."""

    pane: Pane
    activity: int

    def same_screen(self, earlier: Row) -> bool:
        """Whether nothing that changes a screen has happened since `earlier`."""
        return self._screen() == earlier._screen()

    def _screen(self) -> tuple[object, ...]:
        return (self.activity, self.pane.size, self.pane.dead, self.pane.exit_status)


class Fields:
    """A format and its reader. `token` must be one that no title and no program's name can hold."""

    def __init__(self, token: str) -> None:
        self._begin, self._between, self._end = f"<{token}", f"|{token}|", f"{token}>"
        self.format = self._begin + self._between.join(f"#{{{name}}}" for name in _NAMES) + self._end

    def rows(self, text: str) -> list[Row]:
        """The panes of an answer, in tmux's order. Raises TmuxFailed where one is not whole."""
        return [self._row(record) for record in text.split(self._begin)[1:]]

    def _row(self, record: str) -> Row:
        body, end, _ = record.partition(self._end)
        values = body.split(self._between)
        if not end or len(values) != len(_NAMES) or not values[0]:
            raise TmuxFailed("tmux gave half an answer about its panes", hint="fan doctor")
        got = dict(zip(_NAMES, values, strict=True))
        return Row(_pane(got), _number(got["window_activity"]))


def _pane(got: dict[str, str]) -> Pane:
    return Pane(
        id=got["pane_id"],
        session=got["session_name"],
        session_id=got["session_id"],
        launch=got["@fan_launch"],
        pid=_number(got["pane_pid"]),
        command=got["pane_current_command"],
        title=got["pane_title"],
        dead=got["pane_dead"] == "1",
        exit_status=_exit_status(got["pane_dead_status"], got["pane_dead_signal"]),
        in_mode=_number(got["pane_in_mode"]) > 0,
        cursor=(_number(got["cursor_x"]), _number(got["cursor_y"])),
        cursor_shown=got["cursor_flag"] == "1",
        size=(_number(got["pane_width"]), _number(got["pane_height"])),
    )


def _number(value: str) -> int:
    return int(value) if value.isdecimal() else 0


def _exit_status(status: str, name: str) -> int | None:
    if status.isdecimal():
        return int(status)
    if name.isdecimal():
        return 128 + int(name)
    import signal

    known = signal.Signals.__members__.get(f"SIG{name.upper()}")
    return None if known is None else 128 + known
