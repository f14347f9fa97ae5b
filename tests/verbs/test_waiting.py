"""Who waits for the person."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fan.core.reading import COPY_MODE, DRAFT, LEFT
from fan.verbs.listing import waits_for_person
from tests.e2e.test_cli_render import PLAIN

PENDING = replace(PLAIN, prompt_status="pending")


@pytest.mark.parametrize(
    ("row", "waits"),
    [
        (PLAIN, False),
        (PENDING, False),
        (replace(PENDING, prompt_note="waits: it is working"), False),
        (replace(PENDING, prompt_note=DRAFT), True),
        (replace(PENDING, prompt_note=f"{COPY_MODE}; a guard"), True),
        (replace(PENDING, prompt_note=LEFT), True),
        (replace(PENDING, gone=True, pane=""), True),
        (replace(PLAIN, gone=True, pane=""), False),
        (replace(PLAIN, state="needs_input", kind="trust"), True),
    ],
)
def test_who_only_the_person_can_bring_on_waits(row: object, waits: bool) -> None:
    """A prompt behind a draft, in copy mode or without a session waits for the person as a dialog does.

    Red when `--waiting` shows dialogs alone.
    """
    assert waits_for_person(row) is waits  # type: ignore[arg-type]
