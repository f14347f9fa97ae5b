"""What is played to record the screens of claude; each scene starts in a fresh home."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.agents.drive import Actor
from tests.agents.fake_model.server import FakeModel

RULE = "─" * 78
BOX = f"{RULE}\n\u276f\u00a0\n{RULE}\n  ? for shortcuts"
QUOTE = (
    "The screen says:\n\nQuick safety check: Is this a project you created or one you trust?\n\n"
    f"\u276f 1. Yes, I trust this folder\n  2. No, exit\n\nEnter to confirm · Esc to cancel\n\n{BOX}"
    "\n  esc to interrupt"
)
NO_HINTS = {"tipsHistory": {"new-user-warmup": 100}}


class Recording(Protocol):
    """Where frames go."""

    def record(self, actor: Actor, state: str, note: str, *, kind: str = "", transition: bool = False) -> None:
        """Keep the screen as it is now."""
        ...


Play = Callable[[Actor, FakeModel, Recording], None]


@dataclass(frozen=True)
class Scene:
    """One run: how the agent is started, and what is played once it rests (or at once, without `ready`)."""

    play: Play
    words: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=lambda: NO_HINTS)
    trusted: bool = True
    subscriber: bool = False
    ready: bool = True


def tool(name: str, **arguments: Any) -> str:
    """The directive that calls a tool."""
    return f"%tool={name} {json.dumps(arguments, ensure_ascii=False)}%"


def question(text: str) -> str:
    """The directive that makes it ask."""
    options = [{"label": label, "description": f"it is {label}"} for label in ("Red", "Blue")]
    one = {"question": text, "header": "Colour", "multiSelect": False, "options": options}
    return tool("AskUserQuestion", questions=[one])


def settle(actor: Actor) -> None:
    """Returns once the turn is over."""
    time.sleep(0.5)
    actor.wait_title("^✳ ")
    actor.wait_still(still=1.0)


def starting(actor: Actor, model: FakeModel, out: Recording) -> None:
    """Nothing is painted yet; then the trust question; then it is declined."""
    out.record(actor, "starting", "nothing is painted yet", transition=True)
    actor.wait_for("trust this folder")
    actor.wait_still()
    out.record(actor, "needs_input", "the folder is not trusted yet", kind="trust")
    actor.press("Down")
    actor.press("Enter")
    actor.wait_for("Pane is dead")
    out.record(actor, "exited", "trust was declined")


def composer(actor: Actor, model: FakeModel, out: Recording) -> None:
    """What may stand in the box."""
    out.record(actor, "rest", "just started")
    drafts = {
        "a draft of one line": "fix the tests",
        "a draft of three lines, one of them a rule": f"fix\n{RULE}\n  esc to interrupt",
        "a long paste, shown as a chip": "\n".join(f"line {number}" for number in range(60)),
    }
    for note, text in drafts.items():
        actor.paste(text)
        actor.wait_still()
        out.record(actor, "rest", note)
        actor.press("C-c")
        actor.wait_for("Press Ctrl-C again to exit")
        actor.wait_for(r"(?m)^\s*(\? for shortcuts|paste again)|^\s*$")
        actor.wait_still(still=1.2)


def turns(actor: Actor, model: FakeModel, out: Recording) -> None:
    """Working, a second prompt while it works, interrupted, at rest again."""
    actor.submit("silent for a while %think=4%")
    actor.wait_title("^[\u2800-\u28ff]")
    time.sleep(1.5)
    out.record(actor, "working", "nothing has come yet")
    settle(actor)
    out.record(actor, "rest", "after a turn")
    actor.submit("and now %slow=6%")
    actor.wait_for("I am looking")
    actor.submit("the next one")
    actor.wait_for("Press up to edit queued")
    time.sleep(0.5)
    out.record(actor, "working", "its answer streams, a prompt is queued, the box suggests a key")
    time.sleep(6)
    settle(actor)
    actor.submit("once more %slow=20%")
    actor.wait_for(r"once more.*\n(.*\n)*.*I am looking")
    actor.press("Escape")
    actor.wait_for("Interrupted")
    settle(actor)
    out.record(actor, "rest", "interrupted with Esc")


def quoting(actor: Actor, model: FakeModel, out: Recording) -> None:
    """Its own words look like dialogs, boxes and footers."""
    actor.submit(f"%say={QUOTE}%")
    settle(actor)
    out.record(actor, "rest", "its answer quotes a trust question, a box and the working footer")
    actor.submit(f"%say={QUOTE}% %slow=8%")
    actor.wait_title("^[\u2800-\u28ff]")
    actor.wait_for("I am looking")
    out.record(actor, "working", "the same while it works")
    actor.press("Escape")
    settle(actor)
    actor.submit(question(f"Which?\n{BOX}"))
    actor.wait_for(r"1\. Red")
    settle(actor)
    out.record(actor, "needs_input", "a question that draws a box in the first column", kind="choice")


def permissions(actor: Actor, model: FakeModel, out: Recording) -> None:
    """Each kind of permission, and a question."""
    asked = {
        "a shell command": "%bash=touch made.txt%",
        "a shell command whose text draws a box": f"%bash=true # {BOX}%",
        "a new file": "%write=new.txt%",
        "a page to fetch": tool("WebFetch", url="http://127.0.0.1:9/x", prompt="read"),
    }
    for note, text in asked.items():
        actor.submit(f"go {text}")
        actor.wait_for(r"Do you want to (?!use)[^?]*\?")
        settle(actor)
        out.record(actor, "needs_input", note, kind="permission")
        actor.press("Escape")
        settle(actor)
    out.record(actor, "rest", "a permission was denied with Esc")
    actor.submit(question("Which colour?"))
    actor.wait_for(r"1\. Red")
    settle(actor)
    out.record(actor, "needs_input", "a question with options", kind="choice")


def background(actor: Actor, model: FakeModel, out: Recording) -> None:
    """A shell goes on after the turn; leaving asks."""
    actor.submit("go " + tool("Bash", command="sleep 300", description="wait", run_in_background=True))
    time.sleep(2)
    settle(actor)
    out.record(actor, "rest", "a shell still runs in the background")
    actor.press("C-c")
    actor.wait_for("again to exit")
    actor.press("C-c")
    actor.wait_for("Exit anyway")
    settle(actor)
    out.record(actor, "needs_input", "background work is running: leave anyway?", kind="choice")
    actor.press("Enter")
    actor.wait_for("Pane is dead")
    out.record(actor, "exited", "left with Ctrl-C")


def errors(actor: Actor, model: FakeModel, out: Recording) -> None:
    """A turn that fails, one that is tried again, a login that is lost."""
    actor.submit("go %status=400%")
    settle(actor)
    out.record(actor, "errored", "the model answered 400")
    actor.submit("hello")
    settle(actor)
    out.record(actor, "rest", "a turn after one that failed")
    model.switch(status=500)
    actor.submit("again")
    actor.wait_for(r"attempt 3/10")
    out.record(actor, "working", "it tries again after an error")
    model.switch(status=403)
    actor.wait_for("run /login")
    settle(actor)
    out.record(actor, "errored", "the model answered 403: it says to log in")


def limits(actor: Actor, model: FakeModel, out: Recording) -> None:
    """The usage limit comes near, is reached, and is reached again."""
    prefix = "anthropic-ratelimit-unified"
    hour = str(int(time.time()) // 3600 * 3600 + 3 * 3600)
    common = {f"{prefix}-reset": hour, f"{prefix}-representative-claim": "five_hour"}
    near = {f"{prefix}-status": "allowed_warning", f"{prefix}-5h-utilization": "0.95", f"{prefix}-5h-reset": hour}
    model.switch(headers=common | near | {f"{prefix}-5h-surpassed-threshold": "0.9"})
    for number in range(2):
        actor.submit(f"hello {number}")
        settle(actor)
    out.record(actor, "rest", "the usage limit is near")
    reached = {f"{prefix}-status": "rejected", "x-should-retry": "false"}
    model.switch(status=429, headers=common | reached)
    actor.submit("one too many")
    actor.wait_for("Stop and wait for limit to reset")
    settle(actor)
    out.record(actor, "limited", "the usage limit is reached, it asks what to do")
    actor.press("Escape")
    settle(actor)
    out.record(actor, "limited", "the menu was left, the box is back")
    actor.submit("again")
    time.sleep(1.5)
    settle(actor)
    out.record(actor, "limited", "another prompt, the limit still holds")


def login(actor: Actor, model: FakeModel, out: Recording) -> None:
    """A key that it does not know, and then no login at all."""
    actor.wait_for("use this API key")
    actor.wait_still()
    out.record(actor, "needs_input", "it asks whether to use the key it found", kind="login")
    actor.press("Enter")
    actor.wait_for("Not logged in")
    actor.wait_still(still=1.5)
    out.record(actor, "needs_input", "an empty box, but it is not logged in", kind="login")
    actor.submit("hello")
    actor.wait_for("Please run /login")
    actor.wait_still()
    out.record(actor, "needs_input", "a prompt without a login", kind="login")


def bypass(actor: Actor, model: FakeModel, out: Recording) -> None:
    """Its warning before it runs without permissions; modes of the footer."""
    actor.wait_for("Yes, I accept")
    actor.wait_still()
    out.record(actor, "needs_input", "the warning before it runs without permissions", kind="choice")
    actor.press("Down")
    actor.press("Enter")
    actor.wait_for("bypass permissions on")
    settle(actor)
    out.record(actor, "rest", "in the mode without permissions")


def modes(actor: Actor, model: FakeModel, out: Recording) -> None:
    """The suggestion after a turn, and two more modes of the footer."""
    for number in range(3):
        actor.submit(f"hello {number}")
        settle(actor)
    actor.wait_for("run the tests")
    actor.wait_still(still=1.0)
    out.record(actor, "rest", "the box suggests a prompt")
    for mode in ("accept edits on", "plan mode on"):
        actor.press("BTab")
        actor.wait_for(mode)
        actor.wait_still()
        out.record(actor, "rest", mode)


SUGGEST = {"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "1"}
SCENES = (
    Scene(starting, trusted=False, ready=False),
    Scene(composer),
    Scene(turns),
    Scene(quoting),
    Scene(permissions),
    Scene(background),
    Scene(errors),
    Scene(limits, subscriber=True),
    Scene(login, variables={"ANTHROPIC_API_KEY": "another-key-000"}, ready=False),
    Scene(bypass, words=("--dangerously-skip-permissions",), variables={"IS_SANDBOX": "1"}, ready=False),
    Scene(modes, variables=SUGGEST),
)
NARROW = tuple(scene for scene in SCENES if scene.play in (starting, turns, quoting, limits))
"""Those played at the second size too."""
