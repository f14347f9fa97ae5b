"""Members and their worktrees: `ls`, `attach`, `keep`, `rm`, `undo`, `worktree ...`, `group rm`."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli import joining, listing
from fan.cli.common import InGroup, Json, Target, answer, noun, verb, world
from fan.cli.compare import worktree_diff
from fan.cli.complete import archives, groups, members

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
    worktree = noun(app, "worktree", "Make, list and remove worktrees.", "fan worktree ls --json")
    verb(worktree, "ls", "fan worktree ls --json")(ls)
    verb(worktree, "rm", "fan worktree rm fan/add-retry-backoff-http-3")(rm)
    verb(worktree, "diff", "fan worktree diff fan/add-retry-backoff-http-2")(worktree_diff)
    joining.register(worktree)
    removing = "fan group rm fan/add-retry-backoff-http"
    group = noun(app, "group", "Deal with a whole group.", removing)
    verb(group, "rm", removing)(group_rm)
    group.callback()(_only_verbs)


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
    from fan.verbs.listing import ListRequest

    request = ListRequest(group, repo, everywhere, waiting, not no_git)
    return (listing.watch if watch else listing.show)(request, as_json=as_json)


def attach(
    member: Annotated[
        str | None,
        typer.Argument(
            metavar="[MEMBER]",
            help="Id or its first 4 characters, session, branch, GROUP:N or pane.",
            autocompletion=members,
        ),
    ] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="The first one that waits for you.")] = False,
    as_json: Json = False,
) -> int:
    """Show a member's session in this terminal."""
    from fan.verbs import attach as verbs

    session = verbs.attach(world(), verbs.AttachRequest(member, waiting))
    return answer({"session": session}, lambda: f"{session} is in a window of your tmux\n", as_json=as_json)


def keep(
    member: Target,
    merge: Annotated[bool, typer.Option("--merge", help="Merge it first, into the branch you stand on.")] = False,
    squash: Annotated[bool, typer.Option("--squash", help="With --merge: as one commit.")] = False,
    ff_only: Annotated[bool, typer.Option("--ff-only", help="With --merge: no merge commit, or not at all.")] = False,
    into: Annotated[
        str | None, typer.Option("--into", metavar="BRANCH", help="With --merge: into this branch instead.")
    ] = None,
    discard: Discard = False,
    as_json: Json = False,
) -> int:
    """Keep one member and remove the others of its group."""
    from fan.render import removal
    from fan.verbs import keep as verbs

    kept = verbs.keep(world(), verbs.KeepRequest(member, discard, merge, squash, ff_only, into))
    return answer(kept, lambda: removal.kept(kept), as_json=as_json, code=kept.exit_code)


def rm(member: Members, discard: Discard = False, as_json: Json = False) -> int:
    """Remove members; fan undo brings them back."""
    return _remove(tuple(member), None, discard=discard, as_json=as_json)


def group_rm(group: Group, discard: Discard = False, as_json: Json = False) -> int:
    """Remove a whole group; fan undo brings it back."""
    return _remove((), group, discard=discard, as_json=as_json)


def undo(
    archive: Annotated[
        list[str] | None, typer.Argument(metavar="[ARCHIVE...]", help="These, not the last.", autocompletion=archives)
    ] = None,
    as_json: Json = False,
) -> int:
    """Bring the last removal in this repository back."""
    from fan.render import removal
    from fan.verbs import undo as verbs

    undone = verbs.undo(world(), tuple(archive or ()))
    return answer(undone, lambda: removal.undone(undone), as_json=as_json, code=undone.exit_code)


def _remove(targets: tuple[str, ...], group: str | None, *, discard: bool, as_json: bool) -> int:
    from fan.render import removal
    from fan.verbs.remove import RemoveRequest, remove

    removed = remove(world(), RemoveRequest(targets, group, discard))
    return answer(removed, lambda: removal.removed(removed), as_json=as_json, code=removed.exit_code)


def _only_verbs() -> None:
    """A group of one verb is still a group."""
