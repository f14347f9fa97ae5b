"""Typing large prompts, and taking a worktree away."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fan.world.tmux import Tmux
from fan.world.tmux.control import ControlTransport
from tests.bench.measure import Cost, cost, medians, told, told_absolute
from tests.support.repos import RepoBuilder
from tests.support.tmux import Ground, ground
from tests.support.wait import eventually

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]
PANES, TEXT = 10, "0123456789abcde\n" * 512
FILES, REMOVED = 5000, 7


def _batch(tmux: Tmux, panes: list[str]) -> None:
    """The floor: all buffers and pastes sent at once over the same connection."""
    commands: list[tuple[str, ...]] = []
    for pane in panes:
        commands += [
            ("set-buffer", "-b", f"b{pane}", TEXT),
            ("paste-buffer", "-d", "-p", "-r", "-b", f"b{pane}", "-t", pane),
        ]
    assert all(one.ok for one in tmux.transport.run(commands))


def _ours(tmux: Tmux, panes: list[str]) -> None:
    for pane in panes:
        tmux.load(f"b{pane}", TEXT)
        assert tmux.paste(pane, f"b{pane}") == "done"


def test_8_kib_into_10_panes() -> None:
    """Loading and pasting takes at most 3 times one batch of the same, and no byte is lost."""
    with ground() as own:
        panes, files = zip(*[own.record(name=f"r{n}") for n in range(PANES)], strict=True)
        tmux = Tmux(own.socket, own.environ, ControlTransport(own.socket, own.environ, "r0"))
        ids = [pane.id for pane in panes]
        ours, floor = medians(
            lambda: _arrived(own, lambda: _ours(tmux, ids), files),
            lambda: _arrived(own, lambda: _batch(tmux, ids), files),
            9,
        )
        tmux.close()
        told(f"8 KiB into {PANES} panes", ours.wall, floor.wall, 3)


def _arrived(own: Ground, act: object, files: tuple[Path, ...]) -> Cost:
    """What `act` costs until all of its bytes are there."""
    assert callable(act)
    before = [file.stat().st_size if file.exists() else 0 for file in files]

    def run() -> None:
        act()
        wanted = [size + len(TEXT) for size in before]
        eventually(lambda: [file.stat().st_size for file in files] == wanted, every=0.001)

    found = cost(run)
    assert all(file.read_bytes().endswith(TEXT.encode()) for file in files)
    return found


def test_removal_after_its_checks(tmp_path: Path) -> None:
    """Once the work is recorded, the folder and git's entry are gone within 20 ms."""
    lab = RepoBuilder(tmp_path)
    top = lab.repo(files={f"src/{n // 100}/file-{n}.txt": f"{n}\n" for n in range(FILES)})
    repo = lab.open(top)
    oid, after, whole = repo.head().oid, [], []
    for n in range(REMOVED):
        steps: dict[str, float] = {}
        repo.create(lab.place(f"w{n}"), f"w{n}", oid)
        begun = time.monotonic()
        repo.remove(
            lab.place(f"w{n}"),
            archive=f"a{n}",
            trash=tmp_path / "worktrees" / ".trash",
            expect=None,
            base_oid=oid,
            at=time.time(),
            on_step=lambda step, steps=steps: steps.update({step: time.monotonic()}),  # type: ignore[misc]
        )
        ended = time.monotonic()
        after.append(ended - steps["recorded"])
        whole.append(ended - begun)
    told_absolute("removal after its checks", sorted(after)[REMOVED // 2] * 1000, 20, "ms")
    print(f"  checks included: {sorted(whole)[REMOVED // 2] * 1000:.0f} ms")
