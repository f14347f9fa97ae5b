"""Field cases: what the setup carries into new worktrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Fan
from tests.support.members import start
from tests.support.puppets import Puppets
from tests.support.repos import snapshot


@pytest.mark.field("B021")
def test_b021_the_opt_in_copy_keeps_modes_and_leaves_dependencies_alone(fan: Fan, puppets: Puppets) -> None:
    """With `copy` and `.worktreeinclude` the ignored environment file and the untracked instructions travel, mode 600
    and all, a dependency folder does not, and what is told as missing is only what did not travel."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": ".env*\nnode_modules/\n", "fan.toml": 'copy = ["AGENTS.md"]\n'})
    fan.repos.commit(repo, {".worktreeinclude": "# secrets\n.env*\n!.env.old\n"})
    fan.repos.write(repo, {".env": "KEY=1\n", ".env.old": "0\n", "AGENTS.md": "Be kind.\n", "draft.txt": "1\n"})
    fan.repos.write(repo, {"node_modules/a/.env": "1\n"})
    (repo / ".env").chmod(0o600)
    before = _files(repo)
    assert fan.run("config", "approve", cwd=repo).code == 0
    done = fan.run("2", "--agent", "puppet", "--json", "Do it", cwd=repo)
    assert done.code == 0, done.err
    assert "1 untracked path is not there: draft.txt" in done.err
    assert "2 ignored paths are not there: .env.old, node_modules/" in done.err
    for row in done.json["members"]:
        made = Path(row["path"])
        assert ((made / ".env").read_text(), (made / ".env").stat().st_mode & 0o777) == ("KEY=1\n", 0o600)
        assert (made / "AGENTS.md").read_text() == "Be kind.\n"
        assert not (made / ".env.old").exists()
        assert not (made / "node_modules").exists()
    assert _files(repo) == before


def _files(repo: Path) -> dict[str, tuple[int, int, bytes]]:
    """The person's checkout, without what git keeps."""
    return {name: seen for name, seen in snapshot(repo).items() if Path(name).parts[0] != ".git"}


def test_what_git_did_not_say_in_time_is_said_to_be_unknown(fan: Fan, puppets: Puppets) -> None:
    """Where git takes too long over the person's checkout, one line says so, and the start goes on.

    Red when silence then looks as if everything travelled.
    """
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitattributes": "*.bin filter=slow\n", "a.bin": "a\n"})
    fan.repos.git(repo, "config", "filter.slow.clean", "sleep 300")
    fan.repos.write(repo, {"a.bin": "b\n"})
    done = fan.run("1", "--agent", "puppet", "--dry-run", "Do it", cwd=repo)
    assert done.code == 0, done.err
    assert done.err.count("git did not say in time what is not carried over") == 1


def test_a_link_leads_to_the_main_checkout_and_its_removal_harms_nothing(fan: Fan, puppets: Puppets) -> None:
    """`link` shares a folder; removing the member, sweep and all, leaves what it led to as it was; a link that git
    would show as untracked is told.

    Red when a removal follows links.
    """
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": "node_modules/\ncache\n", "fan.toml": 'link = ["node_modules", "cache"]\n'})
    fan.repos.write(repo, {"node_modules/a/index.js": "1\n", "cache/b": "2\n"})
    assert fan.run("config", "approve", cwd=repo).code == 0
    done = fan.run("1", "--agent", "puppet", "--json", "Do it", cwd=repo)
    (row,) = done.json["members"]
    assert (Path(row["path"]) / "node_modules").readlink() == repo / "node_modules"
    assert (Path(row["path"]) / "cache" / "b").read_text() == "2\n"
    assert "git does not ignore the link node_modules;" in done.err
    before = snapshot(repo / "node_modules"), snapshot(repo / "cache")
    assert fan.run("rm", row["id"], "--discard", cwd=repo).code == 0
    assert (snapshot(repo / "node_modules"), snapshot(repo / "cache")) == before


def test_from_a_linked_worktree_files_come_from_where_one_stands(fan: Fan, puppets: Puppets) -> None:
    """Copies are of the place the person stands in, its own `fan.toml` included, not of the main checkout."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": ".env\n"})
    linked = fan.repos.home / "linked"
    fan.repos.git(repo, "worktree", "add", "--quiet", "-b", "work", str(linked))
    fan.repos.write(repo, {".env": "main\n"})
    fan.repos.write(linked, {".env": "linked\n", "fan.toml": 'copy = [".env"]\n'})
    assert fan.run("config", "approve", cwd=linked).code == 0
    (row,) = start(fan, linked, 1, "puppet", "Do it")
    assert (Path(row["path"]) / ".env").read_text() == "linked\n"


def test_a_bare_hub_has_the_setup_of_its_commit(fan: Fan, puppets: Puppets) -> None:
    """Where there is no checkout to stand in, the base's own `fan.toml` says what to run."""
    seed = fan.repos.repo("seed")
    fan.repos.commit(seed, {"fan.toml": 'copy = [".env"]\nsetup = ["touch made"]\n'})
    hub = fan.repos.hub(source=seed)
    assert fan.run("config", "approve", cwd=hub).code == 0
    (row,) = start(fan, hub, 1, "puppet", "Do it")
    assert (Path(row["path"]) / "made").exists()
