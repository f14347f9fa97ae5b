"""A small repository made from nothing, for a demonstration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fan.errors import DiskFailed
from fan.world.git.run import Runner, environment

IDENTITY = {
    "GIT_AUTHOR_NAME": "fan demo",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_COMMITTER_NAME": "fan demo",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
}


def scratch_repository(environ: Mapping[str, str], folder: Path, files: Mapping[str, str]) -> None:
    """A repository at `folder` with `files` in its one commit; left as it is when it is there already."""
    if (folder / ".git").exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DiskFailed(f"{folder} cannot be written: {error.strerror}", not_done="nothing was started") from error
    git = Runner(environment(environ), folder)
    git.run("init", "--quiet", "--initial-branch=main")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=A client without retries", env=IDENTITY)
