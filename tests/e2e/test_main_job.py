"""The main job with the demo agent: one task to several agents, the winner kept, nothing lost on the way."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fan.core.reading import HELD
from tests.support.cli import PROGRAM, ROOT, Fan
from tests.support.members import becomes, error, listed, now, press, start, stop_courier, traces
from tests.support.repos import snapshot
from tests.support.wait import eventually

PROMPT = "Add a retry with backoff to the HTTP client."
STEM = "fan/add-retry-backoff-http"
PASTED = b"\x1b[200~" + PROMPT.encode() + b"\x1b[201~"
ROW = """
    id session pane repo branch path base group agent state kind turn since prompt_status prompt_note typed prompt_at
    ready_by changes ahead gone unread
"""


class Demo:
    """What the demo agents of one `fan` were typed and took."""

    def __init__(self, fan: Fan) -> None:
        self.home, self.log = fan.folder / "d", fan.folder / "keys"
        fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(self.home), "FAN_DEMO_KEYLOG": str(self.log)}

    def typed(self) -> bytes:
        """Every byte that was typed to any of them."""
        return self.log.read_bytes() if self.log.exists() else b""

    def prompts(self) -> list[list[str]]:
        """The prompts that each one took, by its own transcript."""
        items = [
            [json.loads(line) for line in file.read_text().splitlines()] for file in self.home.glob("sessions/*")
        ]
        return [[item["text"] for item in one if item["type"] == "user"] for one in items]

    def take_once(self, count: int) -> None:
        """Waits until so many have taken the prompt; each of them once, with one paste and one Enter."""
        eventually(lambda: sum(map(len, self.prompts())) == count, within=30)
        assert self.prompts() == [[PROMPT]] * count
        assert self.typed().count(PASTED) == count


@pytest.fixture
def demo(fan: Fan) -> Demo:
    """Quick demo agents that keep a log."""
    return Demo(fan)


@contextmanager
def _running(fan: Fan, cwd: Path, *words: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = [*PROGRAM, *words]
    # What runs in the background of a shell inherits that Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, cwd=cwd, env=fan.env | env, stdout=pipe, stderr=pipe, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        yield process


def _interrupted(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Presses Ctrl-C; the answer on standard output."""
    process.send_signal(signal.SIGINT)
    answer: dict[str, Any] = json.loads(process.communicate(timeout=30)[0])
    return answer


def test_three_agents_take_the_prompt_once(fan: Fan, demo: Demo) -> None:
    """One line makes group, branches and three `sent`, each agent got the bytes exactly once; the same line again
    makes a second group beside it.

    Red when a second paste is tried, or when `sent` is said without evidence.
    """
    repo = fan.repos.repo()
    done = fan.run("3", "--agent", "demo", "--json", PROMPT, cwd=repo)
    assert done.code == 0, done.err
    assert (done.json["group"], done.json["base"]) == (STEM, "main")
    rows = done.json["members"]
    assert [row["branch"] for row in rows] == [STEM, f"{STEM}-2", f"{STEM}-3"]
    assert [row["session"] for row in rows] == [f"api-{STEM}{end}".replace("/", "-") for end in ("", "-2", "-3")]
    for row in rows:
        assert (row["prompt_status"], row["typed"], row["prompt_note"]) == ("sent", "yes", "")
        assert set(ROW.split()) <= set(row)
        assert Path(row["path"]).is_dir()
        assert not Path(row["path"]).is_relative_to(repo)
    demo.take_once(3)
    assert demo.typed().count(b"\r") == 3
    again = start(fan, repo, 3, "demo", PROMPT)
    assert [row["branch"] for row in again] == [f"{STEM}-b", f"{STEM}-b-2", f"{STEM}-b-3"]
    assert len(listed(fan, repo)) == 6
    demo.take_once(6)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["3", "--agent", "nobody", PROMPT], "not_found"),
        (["0", "--agent", "demo", PROMPT], "usage"),
        (["65", "--agent", "demo", PROMPT], "usage"),
        (["3", "--agent", "demo", " "], "empty"),
        (["3", "--agent", "demo", "--base", "nowhere", PROMPT], ""),
        (["3", "--agent", "demo", "--prompt", "a", "--prompt", "b"], "usage"),
        (["3", "--agent", "demo", "--dry-run", PROMPT], None),
    ],
    ids=["unknown agent", "none", "too many", "empty", "no base", "mismatch", "dry run"],
)
def test_what_cannot_be_makes_nothing(fan: Fan, demo: Demo, words: list[str], code: str | None) -> None:
    """A refusal, and a dry run, leave no branch, folder, session or record.

    Red when the plan is not complete before the first step.
    """
    repo = fan.repos.repo()
    before = traces(fan, repo)
    done = fan.run(*words, "--json", cwd=repo)
    assert (done.code == 0) is (code is None)
    if code is not None:
        assert error(done.out)["code"].endswith(code)
        assert done.code == (2 if code == "usage" else 1)
    assert traces(fan, repo) == before
    assert not fan.worktrees.exists()
    assert not (fan.runtime / "tmux").exists()


def test_a_trust_question_is_left_to_the_person(fan: Fan, demo: Demo) -> None:
    """While agents ask, the exit code is 3, prompts are pending and no key is typed; once they are answered by hand
    each prompt arrives once and its row says `sent`."""
    rows = start(fan, fan.repos.repo(), 2, "demo", PROMPT, code=3, env={"FAN_DEMO": "trust=always"})
    for row in rows:
        assert (row["state"], row["kind"], row["prompt_status"]) == ("needs_input", "trust", "pending")
    assert demo.typed() == b""
    for row in rows:
        press(fan, row, "Enter")
        becomes(fan, row, prompt_status="sent", typed="yes")
    demo.take_once(2)
    assert demo.typed().count(b"\r") == 4


def test_one_question_is_asked_for_the_repository(fan: Fan, demo: Demo) -> None:
    """Of agents that ask once per repository only the first starts; when its question is answered the others start
    without asking, and each gets its prompt once."""
    recipes = fan.config / "recipes"
    recipes.mkdir(parents=True)
    asking = (ROOT / "recipes" / "demo.toml").read_text().replace('name = "demo"', 'name = "asking"')
    (recipes / "asking.toml").write_text(f'{asking}\n[trust]\nscope = "repository"\n')
    rows = start(fan, fan.repos.repo(), 3, "asking", PROMPT, code=3, env={"FAN_DEMO": "trust"})
    assert [row["state"] for row in rows] == ["needs_input", "starting", "starting"]
    assert (len(demo.prompts()), demo.typed()) == (0, b"")
    press(fan, rows[0], "Enter")
    demo.take_once(3)
    assert demo.typed().count(b"\r") == 4


def test_an_option_that_asks_asks_once(fan: Fan, demo: Demo) -> None:
    """Of `demo:trust` one asks for all of them, and a line says so before anything is made; plain ones beside them
    are not held, nor do they let the others go. Once the answer is known nobody asks.

    Red when an option's question counts for the whole agent, or for none.
    """
    repo, env = fan.repos.repo(), {"FAN_DEMO_HOME": str(fan.repos.home / ".local/state/fan-demo")}
    demo.home = Path(env["FAN_DEMO_HOME"])
    done = fan.run("4", "--agent", "demo,demo:trust", "--json", PROMPT, cwd=repo, env=env)
    assert (done.code, done.err.count("may ask whether you trust this repository: the first one waits")) == (3, 1)
    assert [row["detail"] == HELD for row in done.json["members"]] == [False, False, False, True]
    assert [row["kind"] for row in done.json["members"]] == ["", "trust", "", ""]
    assert [now(fan, row)["detail"] == HELD for row in done.json["members"][3:]] == [True]
    press(fan, done.json["members"][1], "Enter")
    demo.take_once(4)
    again = fan.run("2", "--agent", "demo:trust", "--name", "fan/y", "--json", PROMPT, cwd=repo, env=env)
    assert (again.code, "may ask" in again.err) == (0, False)


def test_detach_returns_before_the_prompts_are_sent(fan: Fan, demo: Demo) -> None:
    """`--detach` ends with 0 once all is made; the courier sends the prompts all the same."""
    rows = start(fan, fan.repos.repo(), 2, "demo", "--detach", PROMPT)
    assert {row["prompt_status"] for row in rows} == {"pending"}
    demo.take_once(2)
    for row in rows:
        becomes(fan, row, prompt_status="sent", turn="done")


def test_keep_and_undo_lose_no_byte(fan: Fan, demo: Demo) -> None:
    """Two losers with commits, staged, changed, untracked and ignored files go and come back byte for byte; the
    repository is sound, its shared configuration and the person's checkout are as they were.

    Red when the folder is deleted, or the index is not restored.
    """
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": "*.log\n"})
    fan.repos.write(repo, {"README.md": "the person's edit\n", "mine.log": "mine\n"})
    rows = start(fan, repo, 3, "demo", PROMPT)
    for row in rows:
        becomes(fan, row, turn="done")
    losers = [Path(row["path"]) for row in rows[1:]]
    for loser in losers:
        fan.repos.write(loser, {"staged.txt": "s\n", "new/untracked.txt": "u\n", "run.log": "ignored\n"})
        fan.repos.write(loser, {"src/main.py": "print(2)\n"})
        fan.repos.git(loser, "add", "staged.txt")
    config = (repo / ".git" / "config").read_bytes()
    person = _checkout(repo)
    before = [(snapshot(loser), _status(fan, loser)) for loser in losers]
    kept = fan.run("keep", rows[0]["branch"], "--json", cwd=repo)
    assert (kept.code, kept.json["merge"]) == (0, f"git merge {STEM}"), kept.out
    assert [row["id"] for row in kept.json["removed"]] == [row["id"] for row in rows[1:]]
    assert not any(loser.exists() for loser in losers)
    assert [row["id"] for row in rows[:1]] == list(listed(fan, repo))
    undone = fan.run("undo", "--json", cwd=repo)
    assert (undone.code, len(undone.json["restored"]), undone.json["left"]) == (0, 2, []), undone.out
    assert [(snapshot(loser), _status(fan, loser)) for loser in losers] == before
    assert "error" not in fan.repos.git(repo, "fsck", "--full", "--strict")
    assert (repo / ".git" / "config").read_bytes() == config
    assert _checkout(repo) == person


def _checkout(repo: Path) -> dict[str, tuple[int, int, bytes]]:
    """The person's files, without git's own."""
    return {name: seen for name, seen in snapshot(repo).items() if name != ".git" and not name.startswith(".git/")}


def _status(fan: Fan, folder: Path) -> str:
    return fan.repos.git(folder, "status", "--porcelain=v2", "--branch")


def test_ctrl_c_during_creation_leaves_nothing_half_made(fan: Fan, demo: Demo) -> None:
    """Ctrl-C while members are made ends with 130: what was begun is whole or undone, the rest is `not_sent:
    interrupted`, and no branch is without its worktree."""
    repo = fan.repos.repo()
    fan.repos.hook(repo, "sleep 1")
    with _running(fan, repo, "8", "--agent", "demo", "--json", PROMPT) as making:
        eventually(lambda: any(fan.worktrees.glob("*/*/README.md")), within=20)
        answer = _interrupted(making)
    assert making.returncode == 130
    interrupted = [row for row in answer["members"] if row["prompt_note"] == "interrupted"]
    assert len(interrupted) >= 4, answer["members"]
    assert {row["prompt_status"] for row in interrupted} == {"not_sent"}
    whole = [row for row in answer["members"] if row["prompt_note"] != "interrupted"]
    made = traces(fan, repo)
    assert [len(made[what]) for what in ("folders", "sessions")] == [len(whole)] * 2
    assert made["branches"] == sorted(["refs/heads/main", *(f"refs/heads/{row['branch']}" for row in whole)])
    assert [lock.name for lock in (repo / ".git").rglob("*.lock")] == ["fan.lock"]


def test_ctrl_c_while_waiting_detaches(fan: Fan, demo: Demo) -> None:
    """Ctrl-C while `--wait` waits for the person ends with 0, and the prompt is still sent once they have
    answered."""
    repo = fan.repos.repo()
    with _running(fan, repo, "1", "--agent", "demo", "--wait", "--json", PROMPT, FAN_DEMO="trust=always") as waiting:
        assert waiting.stderr
        assert any("needs_input" in line for line in iter(waiting.stderr.readline, ""))
        (row,) = _interrupted(waiting)["members"]
    assert (waiting.returncode, row["prompt_status"]) == (0, "pending")
    press(fan, row, "Enter")
    demo.take_once(1)
    becomes(fan, row, prompt_status="sent")


def test_a_killed_courier_costs_no_prompt_and_doubles_none(fan: Fan, demo: Demo) -> None:
    """Killed while prompts wait, and again in the moment of the first key: each time the next `fan ls` starts
    another courier, and every prompt arrives exactly once.

    Red when `ls` starts none, or when the record follows the paste instead of preceding it.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "demo", "--detach", PROMPT, env={"FAN_DEMO": "trust=always"})
    for row in rows:
        becomes(fan, row, kind="trust")
    first = stop_courier(fan)
    for row in rows:
        press(fan, row, "Enter")
    listed(fan, repo)
    eventually(lambda: PASTED[:6] in demo.typed(), within=20, every=0.002)
    second = stop_courier(fan)
    assert first != second
    listed(fan, repo)
    demo.take_once(3)
    for row in rows:
        becomes(fan, row, prompt_status="sent", typed="yes")
