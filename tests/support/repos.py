"""Real git repositories in a test's own folder, shut off from the settings of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fan.world.git import Git, Repository, Restored
from fan.world.git.restore import FROM_REFS, GONE_BEFORE


class RepoBuilder:
    """Makes repositories below `home` and opens them through the git door."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        (home / "gitconfig").write_text(
            "[user]\n\tname = Person\n\temail = person@example.org\n"
            '[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n'
        )

    def git(self, cwd: Path, *args: str, environ: dict[str, str] | None = None) -> str:
        """What git prints, without the last line end; the test fails if git does."""
        done = subprocess.run(
            ["git", *args], cwd=cwd, env=self.environ | (environ or {}), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
        return done.stdout.removesuffix("\n")

    def repo(self, name: str = "api", files: dict[str, str] | None = None) -> Path:
        """A repository with one commit."""
        top = self.home / name
        top.mkdir(parents=True)
        self.git(top, "init", "--quiet")
        self.commit(top, files or {"README.md": "hello\n", "src/main.py": "print(1)\n"}, "First commit")
        return top

    def hub(self, name: str = "hub.git", source: Path | None = None) -> Path:
        """A bare clone."""
        hub = self.home / name
        self.git(self.home, "clone", "--quiet", "--bare", str(source or self.repo("seed")), str(hub))
        return hub

    def write(self, top: Path, files: dict[str, str]) -> None:
        """Writes files, folders included."""
        for name, text in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)

    def commit(self, top: Path, files: dict[str, str], message: str = "More") -> str:
        """Commits files by name; gives the id."""
        self.write(top, files)
        self.git(top, "add", "--force", "--", *files)
        self.git(top, "commit", "--quiet", "-m", message)
        return self.git(top, "rev-parse", "HEAD")

    def hook(self, top: Path, script: str, name: str = "post-checkout") -> None:
        """Installs a hook of a plain repository."""
        hook = top / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{script}\n")
        hook.chmod(0o755)

    def open(self, cwd: Path) -> Repository:
        """The repository, through the door."""
        return Git(self.environ).repository(cwd)

    def place(self, name: str) -> Path:
        """Where a worktree of this name would go."""
        return self.home / "worktrees" / name

    def submodule(self, top: Path, name: str = "lib") -> Path:
        """Adds a submodule that has a remote; gives the repository it comes from."""
        source = self.repo(f"{name}-source", {"lib.c": "int x;\n"})
        self.git(top, "submodule", "--quiet", "add", str(source), name)
        self.git(top, "commit", "--quiet", "-m", f"Add {name}")
        return source


def snapshot(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file, link and folder below `top`: mode, time of change, and content."""
    return {str(one.relative_to(top)): _seen(one) for one in sorted(top.rglob("*"))}


def _seen(one: Path) -> tuple[int, int, bytes]:
    info = one.lstat()
    if one.is_symlink():
        return info.st_mode, info.st_mtime_ns, os.fsencode(one.readlink())
    return info.st_mode, info.st_mtime_ns, one.read_bytes() if one.is_file() else b""


def whole(restored: Restored) -> bool:
    """Whether a worktree came back from the trash, not from the refs alone."""
    return not {FROM_REFS, GONE_BEFORE}.intersection(restored.notes)
