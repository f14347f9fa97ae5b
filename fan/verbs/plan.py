"""Planning `fan N`: everything is resolved here, before anything is made."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from msgspec import structs

from fan.core import naming
from fan.core.asks import introduced
from fan.core.brief import allowed, briefed
from fan.core.model import Delivery, Group, Member, Step
from fan.core.prompt import Prepared, pointer, prepare
from fan.errors import AlreadyExists, Conflict, DiskFailed, TooLarge, UsageError
from fan.verbs import launch, setting_up
from fan.verbs.launch import Launch
from fan.verbs.setting_up import Ready
from fan.verbs.target import known
from fan.world import files, ids, processes
from fan.world.catalogue import Choice
from fan.world.git import Repository, Travel
from fan.world.git.size import checkout_bytes
from fan.world.world import World

LARGEST_PROMPT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StartRequest:
    """`fan N --agent A PROMPT` as asked. `count` may be left out with several prompts.

    With `brief` each prompt says how to report back, and the agents are launched with what their recipes allow.
    """

    agents: tuple[str, ...]
    prompt: str | None = None
    prompts: tuple[str, ...] = ()
    count: int | None = None
    name: str | None = None
    base: str | None = None
    env: tuple[str, ...] = ()
    patience: float | None = None
    detach: bool = False
    wait: bool = False
    timeout: float | None = None
    dry_run: bool = False
    no_setup: bool = False
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One member to be, with what it is made from. `file` is the prompt where it is too large to paste.

    One that a person made without an agent or a prompt has neither `choice` nor `delivery`.
    """

    member: Member
    choice: Choice | None
    argv: tuple[str, ...] = ()
    delivery: Delivery | None = None
    file: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole group to be. `notes` are lines for the person, printed before anything is made."""

    repo: Repository
    group: Group
    parts: tuple[Part, ...]
    env: Mapping[str, str]
    notes: tuple[str, ...]
    setup: Ready | None = None

    def launch(self, part: Part) -> Launch:
        """How the agent of one part is started."""
        return Launch(part.member, self.group, part.choice, part.argv, self.env)


def plan(world: World, request: StartRequest) -> Plan:
    """What `start` will make. Raises a refusal for whatever cannot be; nothing is made either way."""
    prompts = _prompts(request, world.settings.values.max_members)
    choices = _deal(request.agents, len(prompts), world)
    argvs = {choice.label: launch.command(world, choice, briefed=request.brief) for choice in choices}
    env = launch.asked_environment(request.env, world.environ)
    texts = _worded(world, prompts, brief=request.brief)
    prepared = [prepare(text, choice.recipe.submit) for text, choice in zip(texts, choices, strict=True)]
    world.tmux.version()
    world.git.version()
    repo = world.git.repository(world.cwd)
    base, base_oid = base_of(repo, request.base)
    with ThreadPoolExecutor(1) as aside:
        size = aside.submit(checkout_bytes, repo, base_oid)  # in a large tree as long as all else together
        setup = None if request.no_setup else setting_up.find(world, repo, base_oid, approved=not request.dry_run)
        carried = (*setup.copies, *setup.links) if setup else ()
        travel = _travel_notes(repo, base, base_oid, request.base, carried)
        stem = _stem(world, repo, request.name, prompts[0])
        branches = _branches(world, repo, stem, len(prompts))
    check_disk(world, repo, size.result(), len(prompts))
    now = world.clock.now()
    group = _group(repo, stem, base, base_oid, prompts[0], now)
    patience = request.patience if request.patience is not None else world.settings.values.patience
    held, asks = launch.held(world, repo.root, choices)
    sessions: set[str] = set()
    parts = []
    for index, (branch, choice, ready) in enumerate(zip(branches, choices, prepared, strict=True)):
        member = _member(world, repo, group, index, branch, choice, sessions)
        member = structs.replace(member, hold=held[index], briefed=request.brief)
        sessions.add(member.session)
        delivery, file = _delivery(member, ready, choice, now, patience)
        parts.append(Part(member, choice, argvs[choice.label], delivery, file))
    told = setting_up.notes(world, repo, setup) if setup else ()
    may = _allowances(choices) if request.brief else ()
    notes = (*travel, *told, *asks, *may)
    return Plan(repo, group, tuple(parts), env, notes, setup)


def _prompts(request: StartRequest, most: int) -> list[str]:
    """One prompt a member."""
    given = [] if request.prompt is None else [request.prompt]
    if given and request.prompts:
        raise UsageError("a prompt and --prompt exclude each other", not_done="nothing was made", hint="fan --help")
    texts = given or list(request.prompts)
    if not texts:
        raise UsageError("there is no prompt", not_done="nothing was made", hint="fan 3 --agent demo 'your prompt'")
    if any(len(text.encode("utf-8", "surrogatepass")) > LARGEST_PROMPT for text in texts):
        raise TooLarge(
            "a prompt may have at most 4 MiB: more goes into a file that it names", not_done="nothing was made"
        )
    count = request.count if request.count is not None else len(request.prompts) or 1
    if not 1 <= count <= most:
        raise UsageError(
            f"the number of members must be 1 to {most}, not {count}", not_done="nothing was made", hint="fan config"
        )
    if request.prompts and len(request.prompts) != count and len(request.prompts) > 1:
        raise UsageError(
            f"{len(request.prompts)} prompts do not fit {count} members: without a number there is one for each",
            not_done="nothing was made",
            hint="fan 1 --help",
        )
    return texts * count if len(texts) == 1 else texts


def _deal(agents: Sequence[str], count: int, world: World) -> list[Choice]:
    """The agents dealt round the members."""
    names = [name.strip() for text in agents for name in text.split(",") if name.strip()]
    if not names:
        known_agents = ", ".join(world.catalogue.names())
        raise UsageError(
            f"which agent? known: {known_agents}",
            not_done="nothing was made",
            hint="fan 3 --agent demo 'your prompt'",
        )
    choices = [world.catalogue.choose(name) for name in names]
    return [choices[index % len(choices)] for index in range(count)]


def _allowances(choices: Sequence[Choice]) -> tuple[str, ...]:
    """A line for each agent: what it may run without asking."""
    recipes = {choice.recipe.name: choice.recipe for choice in choices}
    return tuple(allowed(recipe.title, recipe.allow) for recipe in recipes.values())


def base_of(repo: Repository, asked: str | None) -> tuple[str, str]:
    """The base as the row shows it, and its commit."""
    head = repo.head() if asked is None else None
    if head:
        return head.branch or head.oid[:10], head.oid
    return asked or "", repo.resolve(asked or "")


def _worded(world: World, prompts: Sequence[str], *, brief: bool) -> list[str]:
    """What is typed: an agent's task says whose it is, and the brief stands before it."""
    caller = world.caller
    if caller.is_agent:
        from fan.verbs.mail import author

        prompts = [introduced(text, author(world, caller), caller.verified.value) for text in prompts]
    return [briefed(text) if brief else text for text in prompts]


def _stem(world: World, repo: Repository, name: str | None, prompt: str) -> str:
    """The group's name; an explicit one must be free."""
    living = {group.stem for group in world.store.groups() if group.repo == repo.root}
    if name is None:
        return naming.free_stem(naming.stem_of(prompt), living)
    repo.check_branch_name(name)
    if name in living:
        raise AlreadyExists(
            f"group {name} is there already",
            not_done="nothing was made",
            hint=f"fan group rm {name}",
        )
    return name


def _branches(world: World, repo: Repository, stem: str, count: int) -> list[str]:
    """Branches whose names and folders are free, beside every branch that is there."""
    existing = repo.branches()
    paths = {one.member.path for one in known(world)}

    def is_taken(name: str) -> bool:
        folder = naming.worktree_folder(world.paths.worktrees, repo.name, repo.root, name)
        blocked = name in existing or naming.blocking_branch(name, existing) is not None
        files.must_see(folder, "nothing was made")
        return blocked or folder in paths or bool(files.there(folder))

    if blocker := naming.blocking_branch(stem, existing):
        raise Conflict(
            f"branch {stem} cannot stand beside the branch {blocker}: git keeps both as paths;"
            " a --name with another first part can",
            not_done="nothing was made",
            hint=f"git branch -m {blocker} NEW",
        )
    names = naming.branches(stem, count, is_taken)
    repo.check_branch_name(names[-1])
    return names


def check_disk(world: World, repo: Repository, size: int, count: int) -> None:
    """Raises DiskFailed where so many checkouts of `size` bytes do not fit, or cannot be written."""
    for place in (world.paths.worktrees, repo.common_dir):
        if not files.is_writable(place):
            raise DiskFailed(
                f"{place} cannot be written", not_done="nothing was made", hint=f"ls -ld {shlex.quote(str(place))}"
            )
    need = size * count
    free = files.free_bytes(world.paths.worktrees)
    if need + world.settings.values.min_free_mb * 1024 * 1024 > free:
        raise DiskFailed(
            f"{_checkouts(count)} not fit, with about {size >> 20} MB each: {free >> 20} MB are free in"
            f" {world.paths.worktrees}; FAN_WORKTREE_DIR may name a folder on another disk",
            not_done="nothing was made",
            hint="df -h",
        )


def _group(repo: Repository, stem: str, base: str, base_oid: str, prompt: str, now: float) -> Group:
    pid = processes.own()
    return Group(ids.new_id(), stem, repo.root, base, base_oid, prompt, now, pid.pid, pid.started)


def _member(
    world: World, repo: Repository, group: Group, index: int, branch: str, choice: Choice, sessions: set[str]
) -> Member:
    taken = {one.member.session for one in known(world)} | sessions
    return Member(
        id=ids.new_id(),
        group=group.id,
        n=index + 1,
        branch=branch,
        path=naming.worktree_folder(world.paths.worktrees, repo.name, repo.root, branch),
        session=naming.session_name(repo.name, branch, repo.root, taken.__contains__),
        agent=choice.recipe.name,
        variant=choice.variant,
        base_oid=group.base_oid,
        step=Step.PLANNED,
        launch=ids.new_launch(),
    )


def _delivery(
    member: Member, prepared: Prepared, choice: Choice, now: float, patience: float
) -> tuple[Delivery, str]:
    """The delivery, and the text that goes into a file where it is too large to paste."""
    guards = "; ".join(prepared.guards)
    if prepared.size <= choice.recipe.submit.largest:
        return Delivery(0, member.id, prepared.text, now, guards=guards, patience=patience, first=True), ""
    line = pointer(f".fan/{prompt_file(member)}")
    guards = f"the prompt ({prepared.size // 1024} KB) is in .fan/{prompt_file(member)}"
    return Delivery(0, member.id, line, now, guards=guards, patience=patience, first=True), prepared.text


def prompt_file(member: Member) -> str:
    """The name of the file that holds a large prompt."""
    return f"prompt-{member.id}.md"


def _travel_notes(repo: Repository, base: str, base_oid: str, asked: str | None, carried: Sequence[str]) -> list[str]:
    """The base, and what of the person's checkout is not in the new worktrees, nor `carried` there."""
    notes = [f"base: {base} ({base_oid[:10]})"]
    if asked is not None:
        return notes
    left = repo.travel(frozenset(carried))
    if not left.complete:
        notes.append("git did not say in time what is not carried over")
    if left.changed:
        notes.append(f"{_count(left.changed, 'uncommitted change')} not carried over: commit them to have them there")
    notes += _left_behind(left)
    return notes


def _left_behind(left: Travel) -> list[str]:
    kinds = (("untracked", left.untracked, left.untracked_names), ("ignored", left.ignored, left.ignored_names))
    return [
        f"{_count(number, f'{kind} path')} not there: {', '.join(names[:4])}{', ...' if number > 4 else ''}"
        for kind, number, names in kinds
        if number
    ]


def _checkouts(count: int) -> str:
    return "1 checkout does" if count == 1 else f"{count} checkouts do"


def _count(number: int, what: str) -> str:
    return f"{number} {what} is" if number == 1 else f"{number} {what}s are"
