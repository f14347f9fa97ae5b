"""Records the screens of the demo agent anew: `python -m tests.screens.record_demo` in the project's folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.demo import REST, Demo, open_demo
from tests.support.terminal import WITHIN
from tests.support.wait import eventually

FOLDER = Path(__file__).parent / "demo" / "1"
SIZES = ((120, 40), (220, 50), (80, 24))
QUOTE = """Why does the screen say
  esc to interrupt
and ask
  Do you trust the files in this folder?
   1. Yes, I trust this folder
● API Error: 500 demo error"""

Scene = Callable[[Demo], None]


def blank(demo: Demo) -> None:
    """Before anything is drawn."""
    demo.start(ready="")


def loading(demo: Demo) -> None:
    """Looks ready and is not."""
    demo.start("slow=60", ready="loading…")


def trust(demo: Demo) -> None:
    """The trust question."""
    demo.start("trust", ready="Enter to confirm")


def trust_no(demo: Demo) -> None:
    """The trust question, its second answer marked."""
    demo.start("trust", ready="Enter to confirm").press("Down")
    demo.terminal.shows("❯ 2. No, exit")  # noqa: RUF001


def login(demo: Demo) -> None:
    """Logged out."""
    demo.start("login", ready="You are not logged in")


def fresh(demo: Demo) -> None:
    """At rest before any turn, a suggestion in the composer."""
    demo.start()


def rested(demo: Demo) -> None:
    """At rest after a turn."""
    demo.start()
    demo.prompt("Add a retry with backoff to the HTTP client.")
    demo.terminal.shows(REST)


def quoting(demo: Demo) -> None:
    """At rest, and the talk quotes signs of other states."""
    demo.start()
    demo.prompt(QUOTE)
    demo.terminal.shows(REST)


def draft(demo: Demo) -> None:
    """At rest, a draft of two lines in the composer."""
    demo.start().paste("rename the\nclient")
    demo.terminal.shows("  client")


def stub(demo: Demo) -> None:
    """At rest, a long paste in the composer."""
    demo.start().paste("line\n" * 40)
    demo.terminal.shows("[Pasted text #1 +40 lines]")


def commands(demo: Demo) -> None:
    """At rest, a slash command in the composer and the list of commands below it."""
    demo.start().paste("/help")
    demo.terminal.shows("show what the keys do")


def working(demo: Demo) -> None:
    """In a turn, before its first words."""
    demo.start(FAN_DEMO_SPEED="0.1")
    demo.prompt("Add a retry.", until="Thinking… (1s)")


def streaming(demo: Demo) -> None:
    """In a turn, after its first words, a draft in the composer."""
    demo.start(FAN_DEMO_SPEED="0.5")
    demo.prompt("Add a retry.", until="● I have read the task")
    demo.terminal.paste("and then")
    demo.terminal.shows("and then")


def permission(demo: Demo) -> None:
    """Asks before it writes; the talk above speaks of other dialogs."""
    demo.start("permission")
    demo.prompt("Log in fails: fix the login page.", until="Do you want to create")


def question(demo: Demo) -> None:
    """Has asked, the composer open."""
    demo.start("question")
    demo.prompt("Add a retry.", until="? Which one: a or b")


def limit_menu(demo: Demo) -> None:
    """The usage limit, as a menu."""
    demo.start("limit")
    demo.prompt("Add a retry.", until="2. Switch")


def limit_notice(demo: Demo) -> None:
    """The usage limit, the composer open."""
    limit_menu(demo)
    demo.terminal.press("1")
    demo.terminal.shows("  Usage limit reached")


def error(demo: Demo) -> None:
    """A turn ended in an error."""
    demo.start("error")
    demo.prompt("Add a retry.", until="API error · send again to retry")


def exited(demo: Demo) -> None:
    """Left, its pane kept."""
    demo.start("die", ready="died as asked")
    demo.terminal.exit_code()


# Scenes by the name of their files: the state, or the kind of needs_input.
SCENES: dict[str, tuple[Scene, ...]] = {
    "starting": (blank, loading),
    "trust": (trust, trust_no),
    "login": (login,),
    "rest": (fresh, rested, quoting, draft, stub, commands),
    "working": (working, streaming),
    "permission": (permission,),
    "question": (question,),
    "limited": (limit_menu, limit_notice),
    "error": (error,),
    "exited": (exited,),
}
KINDS = ("trust", "login", "permission", "question")


def shots() -> Iterator[tuple[str, str, tuple[int, int], Scene]]:
    """File name, name of the scenes, size and scene of every recording."""
    for name, scenes in SCENES.items():
        takes = [(scene, size) for scene in scenes for size in SIZES]
        for number, (scene, size) in enumerate(takes, 1):
            yield f"{name}-{number:02}", name, size, scene


def record(name: str, size: tuple[int, int], scene: Scene) -> tuple[str, dict[str, object]]:
    """The screen with its colours, and what else a look tells."""
    home = Path(tempfile.mkdtemp(prefix="fan-t-", dir="/tmp"))
    try:
        with open_demo(home) as demo:
            demo.terminal.size = size
            scene(demo)
            eventually(lambda: demo.terminal.lines() == demo.terminal.lines(), within=WITHIN)
            return "\n".join(demo.terminal.lines(colours=True)) + "\n", facts(demo, name, size, scene)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def facts(demo: Demo, name: str, size: tuple[int, int], scene: Scene) -> dict[str, object]:
    ask = demo.terminal.ask
    return {
        "agent": "demo",
        "version": "1",
        "state": "needs_input" if name in KINDS else {"error": "errored"}.get(name, name),
        "kind": name if name in KINDS else "",
        "title": ask("#{pane_title}"),
        "current_command": ask("#{pane_current_command}"),
        "cursor": [int(ask("#{cursor_x}")), int(ask("#{cursor_y}"))],
        "cursor_flag": ask("#{cursor_flag}") == "1",
        "cols": size[0],
        "rows": size[1],
        "pane_dead": ask("#{pane_dead}") == "1",
        "transition": False,
        "note": scene.__doc__,
        "how_obtained": "the demo agent in tmux, capture-pane -p -e, by tests/screens/record_demo.py",
    }


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for file, name, size, scene in shots():
        text, told = record(name, size, scene)
        (FOLDER / f"{file}.txt").write_text(text)
        (FOLDER / f"{file}.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
        print(file, scene.__doc__)


if __name__ == "__main__":
    main()
