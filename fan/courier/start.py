"""Starting the courier through the tmux server, so that it outlives the verb that needed it."""

from __future__ import annotations

from collections.abc import Mapping

from fan import __version__
from fan.core.standing import pending
from fan.core.variables import OF_A_MEMBER
from fan.errors import AlreadyExists
from fan.world import bells, locks
from fan.world.files import private_folder
from fan.world.store.records import Running
from fan.world.store.reports import ring
from fan.world.world import World

CARRIED = (
    *("HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "USER"),
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"),
)


def ensure(world: World) -> None:
    """Have a courier of this version or a newer one running; an older one is asked to leave first."""
    try:
        _ensure(world)
    except AlreadyExists:
        # Its session may be that of one that is just starting, or of one that just died. 50 ms to load.
        from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

        again = retry_if_exception_type(AlreadyExists)
        patient = Retrying(retry=again, stop=stop_after_delay(5), wait=wait_fixed(0.05), reraise=True)
        patient(_ensure, world)


def _ensure(world: World) -> None:
    if locks.is_held(private_folder(world.paths.state) / world.paths.courier_lock.name):
        one = running(world)
        if one is None:
            raise AlreadyExists("a courier is just starting, or just leaving")
        if _key(one.version) >= _key(__version__):
            return
        _dismiss(one)
    world.tmux.start_courier([*world.python, "fan.courier"], environment(world.environ))


def ensure_if_pending(world: World) -> None:
    """As `ensure`, for verbs that only read: when a prompt still waits and its session lives."""
    queue = pending(world.store.open_deliveries())
    if queue and world.tmux.panes():
        ensure(world)


def wake(world: World) -> None:
    """Tell a running courier, and whoever follows all events, that there is something new."""
    ring(str(world.paths.bell))
    bells.ring(world.paths.runtime, ())


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the courier needs of the caller's environment: no secrets of anybody's."""
    names = [name for name in environ if name in CARRIED or name.startswith(("FAN_", "XDG_"))]
    return {name: environ[name] for name in names if name not in OF_A_MEMBER}


def running(world: World) -> Running | None:
    """The courier on record, if its process is there."""
    from fan.world import processes

    one = world.store.running()
    return one if one and processes.alive(one.pid, one.started) else None


def _dismiss(running: Running) -> None:
    """End an older courier; what it has begun is on record."""
    from fan.world import processes

    processes.end([processes.Process(running.pid, running.started)])


def _key(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
