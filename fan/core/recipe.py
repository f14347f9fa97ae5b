"""The recipe: everything `fan` knows about one agent, as data (format: recipes/README.md).

A recipe is strict: an unknown key or a pattern that does not compile is an error that names key and reason.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from fan.core.complaint import complaint
from fan.core.model import Kind, State
from fan.core.recipe_parts import Sandbox, Transcript, contradictions
from fan.errors import BadRecipe

Region = Literal["composer", "footer", "above", "dialog", "title"]
Pattern = str


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A strict, immutable table of a recipe."""


class Program(_Part, frozen=True):
    """How the agent's process is recognised in a pane.

    `commands` are patterns for the whole name of what runs in the foreground. The process of a member's pane is the
    one that `fan` executed, so they need tell the agent only from what it has put before itself, such as a shell.
    """

    commands: list[Pattern]


class Version(_Part, frozen=True):
    """How the installed version is read: group 1 of `pattern` in the output of `command`."""

    command: list[str]
    pattern: Pattern


class Launch(_Part, frozen=True):
    """What is executed. `{python}`, `{member_dir}`, `{session}` are filled in; `drop` names variables to remove.

    A name that ends in `*` drops every variable that begins so.
    """

    command: list[str]
    resume: list[str] = []
    env: dict[str, str] = {}
    drop: list[str] = []


class Option(_Part, frozen=True):
    """A variant of the agent, `agent:option` on the command line. With a `trust` of its own it asks for itself."""

    arguments: list[str] = []
    env: dict[str, str] = {}
    about: str = ""
    trust: Trust | None = None


class TrustStore(_Part, frozen=True):
    """Where the agent keeps its own yes: a file and the keys that lead to a value; `{root}` is the repository."""

    file: str
    keys: list[str]
    value: str | bool = True
    format: Literal["json", "toml"] = "json"


class Trust(_Part, frozen=True):
    """Whether the agent asks once per repository, once per folder, or never."""

    scope: Literal["never", "repository", "folder"] = "never"
    store: TrustStore | None = None


class HookFile(_Part, frozen=True):
    """A settings file of ours, written into the member's own folder before launch.

    In `content`, `{report}` becomes the shell words that call `fan report`, escaped for a JSON string.
    """

    name: str
    content: str


class Hooks(_Part, frozen=True):
    """How the agent is told to report its state, without editing the person's own settings.

    `prompt`, `session` and `transcript` name keys of the hook's JSON input. `grace` is how many seconds a launch
    may go without any report before the screen alone is believed; `stale` how old a report must be before the
    screen's contrary and steady sign is believed (hooks have holes: nothing fires after Esc). It is believed at once
    where a pattern of `unreported` stands directly above the composer: what ends a turn without a report.
    """

    arguments: list[str] = []
    env: dict[str, str] = {}
    files: list[HookFile] = []
    prompt: str = ""
    session: str = ""
    transcript: str = ""
    grace: float = 10.0
    stale: float = 5.0
    unreported: list[Pattern] = []


class Guard(_Part, frozen=True):
    """What is added to a prompt whose first or last characters the agent would take for a command."""

    at: Literal["start", "end"]
    match: Pattern
    add: str
    why: str


class Submit(_Part, frozen=True):
    """How a prompt is typed. Times in seconds, sizes in bytes of UTF-8.

    `stubs` are patterns for what a long paste looks like in the composer. `largest` bounds what is pasted;
    above it the prompt becomes a file and one line points to it. `echo` is how long the paste may take to be
    seen, `gap` the pause before the submit key, `stall` how long evidence of it being taken may take.
    """

    key: str = "Enter"
    gap: float = 0.3
    echo: float = 2.0
    stall: float = 5.0
    presses: int = 2
    largest: int = 10_000
    stubs: list[Pattern] = []
    guards: list[Guard] = []


class ComposerRule(_Part, frozen=True):
    """How the box that takes the prompt is found: the last place on the screen that fits.

    `above` and `below` match the line before and after it, `prompt` the start of its first line, `indent` that
    of its further lines (all that are not blank). With an empty `below` it ends at the first blank line. At most
    `footer` non-blank lines may follow it. Text whose every cell has a style of `ghost` is a suggestion, not a
    draft. With `cursor` the terminal's cursor must lie in it: prose can draw a box, but does not get the cursor.
    """

    prompt: Pattern
    above: Pattern = ""
    below: Pattern = ""
    indent: Pattern = ""
    footer: int = 6
    cursor: bool = False
    ghost: list[str] = msgspec.field(default_factory=lambda: ["dim"])


class Rule(_Part, frozen=True):
    """One sign on the screen: all of `match` and none of `unless`, in the text of one region.

    With `empty` it holds only while nothing stands in the composer. `seen` names the recorded screen that shows it;
    group 1 of `detail` is kept (a reset time, a question).
    """

    state: State
    region: Region
    match: list[Pattern]
    seen: str
    unless: list[Pattern] = []
    empty: bool = False
    kind: Kind | None = None
    detail: Pattern = ""


class Screen(_Part, frozen=True):
    """Rules by region.

    `lines` is how many non-blank lines at the bottom are live where there is no composer, `above` how many
    count as directly above one. What `background` finds in the footer, or directly above, is work that goes
    on after a turn.
    """

    composer: ComposerRule
    rules: list[Rule]
    background: Pattern = ""
    lines: int = 16
    above: int = 6


class Proof(_Part, frozen=True):
    """What the recipe can prove, and how long (seconds) after launch nothing is believed to be rest."""

    rest: bool = True
    working: bool = True
    first_moments: float = 0.5
    starting: float = 60.0


class Recipe(_Part, frozen=True):
    """One agent."""

    schema: Literal[1]
    name: str
    title: str
    recorded: list[str]
    program: Program
    launch: Launch
    screen: Screen
    submit: Submit = Submit()
    proof: Proof = Proof()
    trust: Trust = Trust()
    version: Version | None = None
    hooks: Hooks | None = None
    transcript: Transcript | None = None
    sandbox: Sandbox | None = None
    options: dict[str, Option] = {}
    allow: list[str] = []

    def asker(self, variant: str) -> str:
        """Who asks for trust when launched so: one answer is for all of a group that are the same here."""
        option = self.options.get(variant)
        return f"{self.name}:{variant}" if option and option.trust else self.name

    @property
    def has_signal(self) -> bool:
        """Whether the terminal title is a second witness of rest."""
        return any(rule.region == "title" and rule.state == State.REST for rule in self.screen.rules)


def parse(data: dict[str, Any], *, where: str) -> Recipe:
    """The recipe in `data` (a parsed TOML document).

    Raises BadRecipe, naming `where`, the key and the reason.
    """
    try:
        recipe = msgspec.convert(data, Recipe)
    except msgspec.ValidationError as error:
        raise _bad(where, complaint(error)) from error
    for key, pattern in _patterns(recipe):
        try:
            re.compile(pattern)
        except re.error as error:
            raise _bad(where, f"`{key}`: `{pattern}` is not a valid pattern: {error}") from error
    for key, reason in _contradictions(recipe):
        raise _bad(where, f"`{key}`: {reason}")
    return recipe


def _bad(where: str, reason: str) -> BadRecipe:
    return BadRecipe(
        f"{where} is not a valid recipe: {reason}", not_done="nothing was done", hint="fan recipe show demo"
    )


def _patterns(recipe: Recipe) -> list[tuple[str, str]]:
    """Every pattern with the key it stands at."""
    composer = recipe.screen.composer
    found = [(f"screen.composer.{key}", getattr(composer, key)) for key in ("prompt", "above", "below", "indent")]
    found.append(("screen.background", recipe.screen.background))
    found += [("program.commands", pattern) for pattern in recipe.program.commands]
    found += [("submit.stubs", pattern) for pattern in recipe.submit.stubs]
    found += [("submit.guards", guard.match) for guard in recipe.submit.guards]
    if recipe.version:
        found.append(("version.pattern", recipe.version.pattern))
    found += [("hooks.unreported", pattern) for pattern in (recipe.hooks.unreported if recipe.hooks else ())]
    for number, rule in enumerate(recipe.screen.rules):
        found += [(f"screen.rules[{number}]", pattern) for pattern in (*rule.match, *rule.unless, rule.detail)]
    return found


def _contradictions(recipe: Recipe) -> list[tuple[str, str]]:
    """What is well-formed but makes no sense."""
    found = []
    for number, rule in enumerate(recipe.screen.rules):
        if not rule.match:
            found.append((f"screen.rules[{number}]", "a rule without `match` would fit every screen"))
        if (rule.kind is None) != (rule.state is not State.NEEDS_INPUT):
            found.append((f"screen.rules[{number}]", "`kind` goes with the state needs_input, and only with it"))
        if rule.detail and not re.compile(rule.detail).groups:
            found.append((f"screen.rules[{number}].detail", "it needs a group, which is what is kept"))
    if recipe.version and not re.compile(recipe.version.pattern).groups:
        found.append(("version.pattern", "it needs a group, which is the version"))
    if not recipe.launch.command:
        found.append(("launch.command", "it is empty"))
    found += recipe.sandbox.contradictions() if recipe.sandbox else []
    if recipe.transcript:
        found += contradictions(recipe.transcript, has_hook=bool(recipe.hooks and recipe.hooks.transcript))
    if recipe.proof.rest and not any(rule.state is State.REST for rule in recipe.screen.rules):
        found.append(("proof.rest", "it claims to prove rest, but no rule does"))
    if recipe.proof.working and not any(rule.state is State.WORKING for rule in recipe.screen.rules):
        found.append(("proof.working", "it claims to prove working, but no rule does"))
    return found
