"""The courier and what answers for it, killed while a member in a sandbox waits for its answer."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import psutil

from tests.support.cli import Fan
from tests.support.members import start
from tests.support.wait import eventually

ID = "0123456789abcdef"


def running(fan: Fan, module: str) -> list[psutil.Process]:
    """The processes that run this module of ours."""
    found = []
    for process in fan.processes():
        with suppress(psutil.NoSuchProcess):  # a zombie is one of these
            if module in process.cmdline():
                found.append(process)
    return found


def test_a_request_outlives_courier_and_answerer(fan: Fan) -> None:
    """Both killed in the middle of a wait: the next courier takes it up again, and the answer comes.

    Goes red when a taken request is not looked at again.
    """
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d"), "FAN_WAKE": "0"}
    (row,) = start(fan, fan.repos.repo(), 1, "demo", "Do it")
    folder = fan.state / "members" / row["id"] / "requests"
    (folder / "part").write_text(
        json.dumps({"words": ["wait", "agent-message", "--timeout", "60"], "cwd": "/", "stdin": ""})
    )
    (folder / "part").rename(folder / f"{ID}.request")
    eventually((folder / f"{ID}.taken").exists, within=20)
    for module in ("fan.courier", "fan.cli.answerer"):
        for process in running(fan, module):
            process.kill()
    eventually(lambda: not running(fan, "fan.courier") and not running(fan, "fan.cli.answerer"))
    assert (folder / f"{ID}.taken").exists()
    assert fan.run("mail", "send", row["id"], "Here it is").code == 0
    answer = Path(folder, f"{ID}.answer")
    eventually(answer.exists, within=30)
    assert json.loads(answer.read_text())["code"] == 0
    eventually(lambda: not (folder / f"{ID}.taken").exists())
