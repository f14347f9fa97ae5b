"""One member of a real agent under the real command, watched in-process through the same doors as `fan ls`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fan.core.model import Delivery, Row, Status
from fan.courier.seeing import Seen
from fan.verbs.rows import rows, seen_now
from fan.verbs.target import known
from fan.world.world import World, open_world
from tests.agents.conftest import Lab
from tests.support.cli import Fan
from tests.support.wait import eventually

WINDOW = 2.5


class Live:
    """`fan` with one real agent; `start` makes its members, of which the first is the one that is watched."""

    def __init__(self, fan: Fan, real: Lab) -> None:
        self.fan, self.real, self.model = fan, real, real.model
        self.agent = real.program.name
        self.top = fan.repos.repo()
        self.environ = fan.env | real.environ
        self.world: World = open_world(self.environ, self.top)
        self.id = ""

    def trust(self) -> None:
        """Write the agent's own yes for the repository, as its recipe says where."""
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

    def start(self, prompt: str, *words: str, count: int = 1) -> list[dict[str, Any]]:
        """`fan COUNT ... --detach`: the rows."""
        begun = self.fan.run(
            str(count), "--agent", self.agent, "--detach", "--json", *words, "--", prompt, cwd=self.top, env=self.environ
        )
        assert begun.code == 0, begun.out + begun.err
        members: list[dict[str, Any]] = begun.json["members"]
        self.id = members[0]["id"]
        return members

    def send(self, text: str, *words: str) -> Delivery:
        """`fan send`: the delivery that it queued."""
        done = self.fan.run("send", "--json", self.id, *words, "--", text, cwd=self.top, env=self.environ)
        assert done.code == 0, done.out + done.err
        return self.world.store.deliveries(self.id)[-1]

    def now(self, delivery: Delivery) -> Delivery:
        """The delivery as it stands now."""
        return next(one for one in self.world.store.deliveries(self.id) if one.id == delivery.id)

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

    def sent(self, delivery: Delivery, *, within: float = 30.0) -> Delivery:
        """Waits until a delivery is sent; the delivery."""
        self._wait(
            lambda: self.now(delivery).status is Status.SENT, within, lambda: f"not sent: {self.now(delivery)}"
        )
        return self.now(delivery)

    def asked(self, text: str, *, within: float = 30.0) -> None:
        """Waits until the model was asked `text`."""
        self._wait(lambda: text in self.model.prompts(), within, lambda: f"not asked {text!r}: {self.model.prompts()}")

    def holds_back(self, delivery: Delivery, *, still: bool, window: float = WINDOW) -> list[Seen]:
        """For the whole `window` the prompt waits untyped, and where the screen stands `still`, it does not change.

        What was seen meanwhile. `window` is longer than the courier's slowest look and the time that rest must hold.
        """
        first, asked, looks = self.screen(), list(self.model.prompts()), []
        until = time.monotonic() + window
        while time.monotonic() < until:
            looks.append(self.seen())
            found = self.now(delivery)
            assert (found.status, found.phase, found.typed) == ("pending", "waiting", "no"), found
            assert self.model.prompts() == asked
            time.sleep(0.1)
        assert not still or self.screen() == first, f"the screen changed:\n{first}\n---\n{self.screen()}"
        return looks

    def _wait(self, condition: Callable[[], object], within: float, told: Callable[[], str]) -> None:
        try:
            eventually(condition, within=within, every=0.1)
        except AssertionError as late:
            raise AssertionError(f"{told()}\n{self.screen()}") from late
