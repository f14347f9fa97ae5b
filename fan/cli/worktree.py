"""Members and their worktrees: `ls`, `attach`, `keep`, `rm`, `undo`, `worktree ls|rm`, `group rm`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from fan.cli.common import InGroup, Json, Target, answer, verb, world
from fan.cli.complete import groups, members
from fan.errors import UsageError
from fan.render import output

if TYPE_CHECKING:
    from fan.verbs.listing import ListRequest
    from fan.world.world import World

Discard = Annotated[bool, typer.Option("--discard", help="Keep no archive: cannot be undone.")]
Members = Annotated[
    list[str], typer.Argument(metavar="MEMBER...", help="As for attach; several at once.", autocompletion=members)
]
Group = Annotated[str, typer.Argument(metavar="GROUP", help="Its name or id.", autocompletion=groups)]


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    verb(app, "ls", "fan ls --waiting")(ls)
    verb(app, "attach", "fan attach fan/add-retry-backoff-http-2")(attach)
    verb(app, "keep", "fan keep fan/add-retry-backoff-http-2")(keep)
    verb(app, "rm", "fan rm fan/add-retry-backoff-http-3")(rm)
    verb(app, "undo", "fan undo")(undo)
    worktree = typer.Typer(help="List and remove worktrees.", no_args_is_help=True)
    verb(worktree, "ls", "fan worktree ls --json")(ls)
    verb(worktree, "rm", "fan worktree rm fan/add-retry-backoff-http-3")(rm)
    app.add_typer(worktree, name="worktree")
    group = typer.Typer(no_args_is_help=True)
    verb(group, "rm", "fan group rm fan/add-retry-backoff-http")(group_rm)
    group.callback(help="Deal with a whole group.")(_only_verbs)
    app.add_typer(group, name="group")


def ls(
    group: InGroup = None,
    repo: Annotated[str | None, typer.Option("--repo", metavar="FOLDER", help="Of the repository there.")] = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Of every repository.")] = False,
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that wait for you.")] = False,
    no_git: Annotated[bool, typer.Option("--no-git", help="Quicker: without changes and commits.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Keep showing them, until Ctrl-C.")] = False,
    as_json: Json = False,
) -> int:
    """List members: state of the agent, prompt, changes."""
    from fan.render.rows import rows
    from fan.verbs import listing

    here = world()
    request = listing.ListRequest(group, repo, everywhere, waiting, not no_git)
    if watch:
        return _watch(here, request, as_json=as_json)
    found = listing.ls(here, request)
    if found.hint and not as_json:
        output.aside(found.hint)
    return answer(found.rows, lambda: rows(found.rows, here.clock.now()), as_json=as_json)


def _watch(here: World, request: ListRequest, *, as_json: bool) -> int:
    """Until Ctrl-C, which is how it is meant to end."""
    from fan.render.watching import watching
    from fan.verbs import listing

    if as_json:
        raise UsageError("--watch and --json exclude each other", hint="fan ls --json")
    with watching(here.clock.now) as show, suppress(KeyboardInterrupt):
        listing.watch(here, request, lambda found: show(found.rows, found.hint))
    return 0


def attach(
    member: Annotated[
        str | None,
        typer.Argument(metavar="[MEMBER]", help="Id or its first 4 characters, session, branch, GROUP:N or pane."),
    ] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="The first one that waits for you.")] = False,
    as_json: Json = False,
) -> int:
    """Show a member's session in this terminal."""
    from fan.verbs import attach as verbs

    session = verbs.attach(world(), verbs.AttachRequest(member, waiting))
    return answer({"session": session}, lambda: f"{session} is in a window of your tmux\n", as_json=as_json)


def keep(member: Target, discard: Discard = False, as_json: Json = False) -> int:
    """Keep one member and remove the others of its group."""
    from fan.render import removal
    from fan.verbs import keep as verbs

    kept = verbs.keep(world(), verbs.KeepRequest(member, discard))
    return answer(kept, lambda: removal.kept(kept), as_json=as_json, code=kept.exit_code)


def rm(member: Members, discard: Discard = False, as_json: Json = False) -> int:
    """Remove members; fan undo brings them back."""
    return _remove(tuple(member), None, discard=discard, as_json=as_json)


def group_rm(group: Group, discard: Discard = False, as_json: Json = False) -> int:
    """Remove a whole group; fan undo brings it back."""
    return _remove((), group, discard=discard, as_json=as_json)


def undo(as_json: Json = False) -> int:
    """Bring the last removal in this repository back."""
    from fan.render import removal
    from fan.verbs import undo as verbs

    undone = verbs.undo(world())
    return answer(undone, lambda: removal.undone(undone), as_json=as_json, code=undone.exit_code)


def _remove(targets: tuple[str, ...], group: str | None, *, discard: bool, as_json: bool) -> int:
    from fan.render import removal
    from fan.verbs.remove import RemoveRequest, remove

    removed = remove(world(), RemoveRequest(targets, group, discard))
    return answer(removed, lambda: removal.removed(removed), as_json=as_json, code=removed.exit_code)


def _only_verbs() -> None:
    """A group of one verb is still a group."""
