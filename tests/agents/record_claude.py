"""Records the screens of claude: `sudo python -m tests.agents.record_claude [FOLDER]` (Linux, installed agents).

Everything runs in a mount and network namespace of its own: the home is /home/dev on every screen, and nothing but
loopback can be reached. What is on FOLDER/claude/VERSION already and has another name stays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.drive import Actor, Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.install import installed
from tests.agents.scenes_claude import NARROW, SCENES, Scene
from tests.agents.table import AGENTS

AGENT = AGENTS["claude"]
SIZES = ((220, 50), (80, 24))
HOME = Path("/home/dev")
TOKEN = "made-up-token-000"
ENTER = (
    'set -e; mkdir -p /home/dev; mount --bind "$1" /home/dev; hostname devbox; ip link set lo up; shift; exec "$@"'
)


@dataclass
class Recorder:
    """Writes numbered frames, each a capture and what is true of it."""

    folder: Path
    counts: dict[str, int] = field(default_factory=dict)

    def record(self, actor: Actor, state: str, note: str, *, kind: str = "", transition: bool = False) -> None:
        """Keep the screen as it is now. `state` and `kind` are what the script knows, not what the screen shows."""
        word = kind or state
        self.counts[word] = self.counts.get(word, 0) + 1
        name = f"{word}-{self.counts[word]:02}"
        facts = actor.facts()
        about: dict[str, object] = {
            "agent": "claude",
            "version": AGENT.version,
            "state": state,
            **({"kind": kind} if kind else {}),
            "title": facts.title,
            "current_command": facts.command,
            "alternate_on": facts.alternate,
            "cols": facts.size[0],
            "rows": facts.size[1],
            "cursor": list(facts.cursor),
            "cursor_flag": facts.cursor_shown,
            "pane_dead": facts.dead,
            "transition": transition,
            "note": note,
            "how_obtained": "the real program in tmux against the fake model on loopback, capture-pane -p -e; "
            "the state is known from the script (tests/agents/record_claude.py)",
        }
        (self.folder / f"{name}.txt").write_text(actor.screen(styled=True))
        (self.folder / f"{name}.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n")
        print(name, facts.size, note, flush=True)


def main() -> None:
    """Enter the namespaces, then record all scenes at all sizes."""
    if "--inside" not in sys.argv:
        _enter()
        return
    target = Path(sys.argv[-1]) / "claude" / AGENT.version
    target.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(target)
    for size in SIZES:
        for scene in SCENES if size == SIZES[0] else NARROW:
            with _lab(scene, size) as (actor, model):
                scene.play(actor, model, recorder)


def _enter() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "tests/screens").resolve()
    with tempfile.TemporaryDirectory() as home:
        inside = [sys.executable, "-m", "tests.agents.record_claude", "--inside", str(folder)]
        environ = {**os.environ, "FAN_AGENT_CACHE": str(_cache())}
        shell = ["unshare", "-mun", "sh", "-c", ENTER, "sh", home, *inside]
        subprocess.run(shell, env=environ, check=True)


def _cache() -> Path:
    program = installed(AGENT)
    if program is None:
        raise SystemExit("not installed: python -m tests.agents.install claude")
    return program.parents[3]


@contextmanager
def _lab(scene: Scene, size: tuple[int, int]) -> Iterator[tuple[Actor, FakeModel]]:
    """The agent as the scene wants it, in a fresh home and repository."""
    subprocess.run(["find", str(HOME), "-mindepth", "1", "-delete"], check=False)
    project = HOME / "proj"
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    program = installed(AGENT)
    assert program is not None
    with tempfile.TemporaryDirectory() as folder, FakeModel() as model:
        AGENT.prepare(HOME, model.port)
        _settle(scene, project)
        environ = AGENT.environ(HOME, model.port, program) | dict(scene.variables)
        if scene.subscriber:
            environ["CLAUDE_CODE_OAUTH_TOKEN"] = TOKEN
            del environ["ANTHROPIC_API_KEY"]
        stage = Stage(Path(folder) / "t")
        try:
            actor = stage.start([AGENT.program, *scene.words], project, environ, size=size)
            if scene.ready:
                _until_ready(actor)
            yield actor, model
        finally:
            stage.end()


def _settle(scene: Scene, project: Path) -> None:
    """Trust and settings as the scene wants them."""
    file = HOME / ".claude.json"
    settings = json.loads(file.read_text())
    if scene.trusted:
        settings["projects"] = {str(project): {"hasTrustDialogAccepted": True}}
    file.write_text(json.dumps(settings | scene.settings))


def _until_ready(actor: Actor) -> None:
    actor.wait_title("^✳ ")
    actor.wait_for("\u276f\u00a0")
    actor.wait_still(still=1.5)


if __name__ == "__main__":
    main()
