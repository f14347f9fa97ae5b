"""Real agents with a home of their own, against the fake model on loopback."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.drive import Actor, Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.install import installed
from tests.agents.table import AGENTS
from tests.support.repos import RepoBuilder


@dataclass(frozen=True)
class Lab:
    """One agent ready to be run: its program, home and environment, the model behind it, and a stage."""

    program: Path
    home: Path
    environ: dict[str, str]
    model: FakeModel
    stage: Stage
    repos: RepoBuilder

    def start(self, cwd: Path, *words: str, name: str = "main", size: tuple[int, int] = (220, 50)) -> Actor:
        """Run the agent in `cwd` with further `words` on its command line."""
        return self.stage.start([self.program.name, *words], cwd, self.environ, name=name, size=size)


@pytest.fixture
def model_server() -> Iterator[FakeModel]:
    """A model on a free loopback port; `prompts()` says what reached it."""
    with FakeModel() as model:
        yield model


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a path short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="fan-a-", dir="/tmp")).resolve()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def stage(short_folder: Path) -> Iterator[Stage]:
    """A tmux server of the test's own."""
    made = Stage(short_folder / "tmux")
    yield made
    made.end()


@pytest.fixture
def claude(short_folder: Path, model_server: FakeModel, stage: Stage) -> Lab:
    """The agent of that name."""
    return lab("claude", short_folder, model_server, stage)


def lab(name: str, folder: Path, model: FakeModel, stage: Stage) -> Lab:
    """The agent `name` of the table; skips where it is not installed, or fails when `FAN_REAL_AGENTS=required`."""
    agent = AGENTS[name]
    program = installed(agent)
    if program is None:
        missing = f"{name} {agent.version} is not installed: python -m tests.agents.install {name}"
        if os.environ.get("FAN_REAL_AGENTS") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    agent.prepare(home, model.port)
    return Lab(program, home, agent.environ(home, model.port, program), model, stage, RepoBuilder(home))
