"""One member of a real agent under `fan`, watched in-process through the same doors as `fan ls`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fan.core.model import Delivery, Row, State, Status, Typed
from fan.courier.seeing import Seen
from fan.verbs.rows import rows, seen_now
from fan.verbs.send import SendRequest, send
from fan.verbs.target import known
from fan.world.world import World, open_world
from tests.agents.conftest import Lab
from tests.support.cli import Fan
from tests.support.wait import eventually

# Longer than the courier's slowest look and the time that rest must hold, together.
WINDOW = 2.5
# What a background task's end is told to the model with, as if a person had said it.
NOT_A_PERSON = "<task-notification>"


class Live:
    """`fan` with one real agent; `start` makes its members, of which the first is the one that is watched."""

    def __init__(self, fan: Fan, real: Lab, top: Path | None = None) -> None:
        self.fan, self.real, self.model = fan, real, real.model
        self.agent = real.program.name
        self.top = top or fan.repos.repo()
        self.environ = fan.env | real.environ
        self.world: World = open_world(self.environ, self.top)
        self.id = ""

    def trust(self) -> None:
        """Write the agent's own yes for the repository, where its recipe says that it keeps it."""
        store = self.world.catalogue.recipe(self.agent).trust.store
        assert store
        file = Path(store.file.replace("~", str(self.real.home), 1))
        keys = [key.replace("{root}", str(self.top)) for key in store.keys]
        if store.format == "toml":
            table = ".".join(json.dumps(key) for key in keys[:-1])
            file.write_text(f"{file.read_text()}\n[{table}]\n{keys[-1]} = {json.dumps(store.value)}\n")
            return
        whole = inner = json.loads(file.read_text())
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        inner[keys[-1]] = store.value
        file.write_text(json.dumps(whole))

    def start(self, prompt: str, *, count: int = 1) -> list[Delivery]:
        """`fan COUNT --detach`: the members' deliveries."""
        words = [str(count), "--agent", self.agent, "--name", "hostile", "--detach", "--json", "--", prompt]
        begun = self.fan.run(*words, cwd=self.top, env=self.environ)
        assert begun.code == 0, begun.out + begun.err
        members: list[dict[str, Any]] = begun.json["members"]
        self.id = members[0]["id"]
        return [self.world.store.deliveries(member["id"])[0] for member in members]

    def send(self, text: str) -> Delivery:
        """`fan send`: the delivery that it queued."""
        send(self.world, SendRequest(self.id, text))
        return self.world.store.deliveries(self.id)[-1]

    def now(self, delivery: Delivery) -> Delivery:
        """The delivery as it stands now."""
        return next(one for one in self.world.store.deliveries(delivery.member) if one.id == delivery.id)

    def seen(self) -> Seen:
        """The member as one look finds it."""
        return seen_now(self.world, [self.world.store.member(self.id)])[self.id]

    def row(self) -> Row:
        """The member's row, as `fan ls --no-git` shows it."""
        return next(row for row in rows(self.world, known(self.world), git=False) if row.id == self.id)

    def screen(self) -> str:
        """What stands in its pane."""
        look = self.seen().look
        return "\n".join(line.text for line in look.lines) if look else ""

    def press(self, *keys: str) -> None:
        """Press keys in its pane, as the person does."""
        for key in keys:
            assert self.world.tmux.press(self.row().pane, key) == "done"

    def becomes(self, *, within: float = 20.0, **wanted: object) -> Row:
        """Waits until its row has these values; the row."""
        last: list[Row] = []

        def is_so() -> bool:
            last[:] = [self.row()]
            return all(getattr(last[0], name) == value for name, value in wanted.items())

        self._wait(is_so, within, lambda: f"it did not become {wanted}: {last}")
        return last[0]

    def passes(self, end: State, *, within: float = 20.0) -> set[State]:
        """The states it is seen in until it is in the state `end`."""
        found: set[State] = set()

        def is_there() -> bool:
            found.add(self.seen().reading.state)
            return end in found

        self._wait(is_there, within, lambda: f"it did not come to {end}, but to {found}")
        return found

    def sent(self, delivery: Delivery, *, within: float = 40.0) -> Delivery:
        """Waits until a delivery is sent; the delivery."""
        self._wait(
            lambda: self.now(delivery).status is Status.SENT, within, lambda: f"not sent: {self.now(delivery)}"
        )
        return self.now(delivery)

    def prompts(self) -> list[str]:
        """What the model was asked by a person."""
        return [text for text in self.model.prompts() if not text.startswith(NOT_A_PERSON)]

    def asked(self, text: str, *, within: float = 30.0) -> None:
        """Waits until the model was asked `text`."""
        self._wait(lambda: text in self.prompts(), within, lambda: f"not asked {text!r}: {self.prompts()}")

    def holds_back(self, delivery: Delivery, *, still: bool, window: float = WINDOW) -> set[State]:
        """For the whole `window` the prompt waits untyped and the model is not asked it; the states seen meanwhile.

        Where the screen stands `still`, as in a dialog, not a cell of it changes.
        """
        before, states = self.screen(), set()
        until = time.monotonic() + window
        while time.monotonic() < until:
            states.add(self.seen().reading.state)
            found = self.now(delivery)
            assert (found.status, found.phase, found.typed) == (Status.PENDING, "waiting", Typed.NO), found
            time.sleep(0.1)
        after = self.screen()
        assert delivery.text not in self.prompts()
        assert delivery.text not in after
        assert not still or after == before, f"the screen changed:\n{before}\n---\n{after}"
        return states

    def _wait(self, condition: Callable[[], object], within: float, told: Callable[[], str]) -> None:
        try:
            eventually(condition, within=within, every=0.1)
        except AssertionError as late:
            raise AssertionError(f"{told()}\n{self.screen()}") from late
