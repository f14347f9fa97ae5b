"""Starting the courier through the tmux server, so that it outlives the verb that needed it."""

from __future__ import annotations

from collections.abc import Mapping

from fan import __version__
from fan.core.standing import pending
from fan.errors import AlreadyExists
from fan.world.files import private_folder
from fan.world.store.reports import ring
from fan.world.world import World

CARRIED = ("HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "USER")
NOT_CARRIED = ("FAN_MEMBER", "FAN_GROUP", "FAN_PANE", "FAN_LAUNCH", "FAN_BIN")


def ensure(world: World) -> None:
    """Have a courier of this version or a newer one running; an older one is asked to leave first."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 50 ms, only when a courier may be needed

    lock = FileLock(private_folder(world.paths.state) / world.paths.courier_lock.name)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not _is_older(world):
            return
        _dismiss(world)
    else:
        lock.release()
    try:
        world.tmux.start_courier([world.fan_words[0], "-m", "fan.courier"], environment(world.environ))
    except AlreadyExists:
        return


def ensure_if_pending(world: World) -> None:
    """As `ensure`, for verbs that only read: when a prompt still waits and its session lives."""
    queue = pending(world.store.open_deliveries())
    if queue and world.tmux.panes():
        ensure(world)


def wake(world: World) -> None:
    """Tell a running courier that there is something new."""
    ring(str(world.paths.bell))


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the courier needs of the caller's environment: no secrets of anybody's."""
    names = [name for name in environ if name in CARRIED or name.startswith(("FAN_", "XDG_"))]
    return {name: environ[name] for name in names if name not in NOT_CARRIED}


def _is_older(world: World) -> bool:
    running = world.store.running()
    return running is not None and _key(running.version) < _key(__version__)


def _dismiss(world: World) -> None:
    """End the older courier and wait until its lock and its session are free."""
    from fan.world import processes  # noqa: PLC0415 - as above
    from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed  # noqa: PLC0415 - as above

    running = world.store.running()
    if running and processes.alive(running.pid, running.started):
        processes.end([processes.Process(running.pid, running.started)])
    for attempt in Retrying(
        retry=retry_if_exception_type(AlreadyExists), stop=stop_after_delay(5), wait=wait_fixed(0.05)
    ):
        with attempt:
            if world.tmux.session_exists("fan-courier"):
                raise AlreadyExists("the older courier is still leaving")


def _key(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
