"""The work that the demo does: one file, written and committed where it stands."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_NAME": "demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
}
SECONDS = 60


def path_of(turn: str) -> Path:
    """The file that a turn writes, from the folder it works in."""
    return Path("demo") / f"NOTES-{turn}.md"


def write(folder: Path, turn: str, prompt: str, subject: str) -> str:
    """Writes the note and commits it alone; says in words what came of it."""
    path = path_of(turn)
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(f"# {subject}\n\nThe task was:\n\n{prompt}\n", "utf-8", "replace")
    added = _git(folder, "add", "--", str(path))
    if added.returncode:
        return f"wrote {path}, not committed: {_why(added)}"
    done = _git(folder, "-c", "commit.gpgsign=false", "commit", "-q", "-m", f"demo: {subject}", "--", str(path))
    if done.returncode:
        return f"wrote {path}, not committed: {_why(done)}"
    return f"wrote {path} and committed it as {_git(folder, 'rev-parse', '--short', 'HEAD').stdout.strip()}"


def repository(folder: Path) -> Path:
    """The main checkout that `folder` belongs to, else `folder` itself."""
    found = _git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return folder if found.returncode else Path(found.stdout.removesuffix("\n")).parent


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    listed = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True)
    local = set(listed.stdout.split())
    environ = {name: value for name, value in os.environ.items() if name not in local} | IDENTITY
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def _why(failed: subprocess.CompletedProcess[str]) -> str:
    lines = (failed.stderr or failed.stdout).strip().splitlines()
    return lines[0] if lines else f"git ended with {failed.returncode}"
