"""The box that a prompt is written in. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.demo.keys import Event, Key, Paste, Text
from fan.demo.text import visible, width

STUB_LINES = 10
STUB_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Piece:
    """One character, or one long paste shown as a stub."""

    text: str
    shown: str


@dataclass(slots=True)
class Composer:
    """A draft and where its cursor stands, in pieces from its start."""

    pieces: list[Piece] = field(default_factory=list)
    at: int = 0
    pastes: int = 0

    @property
    def text(self) -> str:
        """The draft, every paste in full."""
        return "".join(piece.text for piece in self.pieces)

    def take(self) -> str:
        """The draft; the box is empty afterwards."""
        text = self.text
        self.pieces, self.at, self.pastes = [], 0, 0
        return text

    def on(self, event: Event) -> None:
        """Edits the draft; keys that do not edit are left alone."""
        match event:
            case Text(text):
                self._insert(text)
            case Paste(text):
                self._paste(text)
            case Key("newline"):
                self._insert("\n")
            case Key("backspace") if self.at:
                self.at -= 1
                del self.pieces[self.at]
            case Key("left"):
                self.at = max(0, self.at - 1)
            case Key("right"):
                self.at = min(len(self.pieces), self.at + 1)
            case Key("home"):
                self.at = self._line_start()
            case Key("end"):
                self.at = self._line_end()
            case Key("kill"):
                start = self._line_start()
                del self.pieces[start : self.at]
                self.at = start
            case _:
                pass

    def continue_line(self) -> bool:
        """Makes a backslash at the very end a line end; says whether there was one."""
        if not self.pieces or self.pieces[-1].text != "\\":
            return False
        self.pieces[-1] = Piece("\n", "\n")
        self.at = len(self.pieces)
        return True

    def rows(self, columns: int, limit: int) -> tuple[list[str], tuple[int, int]]:
        """At most `limit` rows around the cursor, and the cursor's row and column among them."""
        rows, used, cursor = [""], 0, (0, 0)
        for index, piece in enumerate(self.pieces):
            shown = piece.shown[:columns]  # a stub may be wider than the box
            taken = width(shown)
            if used and used + taken >= columns:
                rows.append("")
                used = 0
            if index == self.at:
                cursor = (len(rows) - 1, used)
            if shown == "\n":
                rows.append("")
                used = 0
            else:
                rows[-1] += shown
                used += taken
        if self.at == len(self.pieces):
            cursor = (len(rows) - 1, used)
        first = max(0, min(cursor[0] - limit // 2, len(rows) - limit))
        return rows[first : first + limit], (cursor[0] - first, cursor[1])

    def _insert(self, text: str) -> None:
        self.pieces[self.at : self.at] = [Piece(char, visible(char)) for char in text]
        self.at += len(text)

    def _paste(self, text: str) -> None:
        lines = text.count("\n")
        if lines < STUB_LINES and len(text) <= STUB_CHARS:
            self._insert(text)
            return
        self.pastes += 1
        self.pieces.insert(self.at, Piece(text, f"[Pasted text #{self.pastes} +{lines} lines]"))
        self.at += 1

    def _line_start(self) -> int:
        before = self.pieces[: self.at]
        return next((i for i in range(self.at, 0, -1) if before[i - 1].text == "\n"), 0)

    def _line_end(self) -> int:
        after = range(self.at, len(self.pieces))
        return next((i for i in after if self.pieces[i].text == "\n"), len(self.pieces))
