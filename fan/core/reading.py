"""What a look and the other evidence mean: the state of an agent and why (docs/look-and-answer.md).

Three answers exist: at rest, not at rest, cannot tell. Rest needs a positive sign of every witness that the recipe
has; working, a dialog or a limit need one. All functions are pure: the same look gives the same answer to
`fan ls` and to the courier.
"""

from __future__ import annotations

from zlib import crc32

from msgspec import Struct

from fan.core.model import Kind, Look, Report, State, Witness
from fan.core.recipe import Recipe, Rule
from fan.core.regions import Composer, Regions, compiled, regions
from fan.core.secrets import found_words, quoted

# Which of several signs on one screen counts: a dialog before a limit before work before rest.
ORDER = (
    State.NEEDS_INPUT,
    State.LIMITED,
    State.WORKING,
    State.ERRORED,
    State.STARTING,
    State.EXITED,
    State.UNKNOWN,
    State.REST,
)
OVER = (State.REST, State.LIMITED, State.ERRORED)
SILENCE = 30.0


class Tried(Struct, frozen=True):
    """One rule, and the first part of it that did not hold (empty: it matched)."""

    rule: Rule
    failed: str
    detail: str = ""

    @property
    def matched(self) -> bool:
        return not self.failed


class Claim(Struct, frozen=True):
    """What one witness says. `stale` claims are shown but do not count."""

    witness: Witness
    state: State
    kind: str = ""
    detail: str = ""
    at: float | None = None
    stale: str = ""


class Reading(Struct, frozen=True):
    """The joint answer.

    `open` means that words pasted now would land in the composer: the agent is alive, in the foreground and at
    rest or asking in an open composer, by every witness. `obstacle` says why nothing may be typed now, empty
    when it may: besides `open`, the composer must be empty and the pane not in copy mode. `still` changes when
    composer, dialog or title change; a ticking footer does not count. `above` stands for the text above the box,
    `background` names work that goes on after the turn.
    """

    state: State
    kind: str
    detail: str
    decided_by: Witness
    open: bool
    obstacle: str
    composer: Composer | None
    still: str
    above: str = ""
    background: str = ""
    claims: tuple[Claim, ...] = ()
    tried: tuple[Tried, ...] = ()

    @property
    def is_dialog(self) -> bool:
        """Whether a question is up that only the person may answer."""
        return self.state is State.NEEDS_INPUT and self.kind != Kind.QUESTION

    @property
    def waits_for_person(self) -> bool:
        """Whether only the person can clear the way: a dialog, text in the composer, copy mode, a held start."""
        return self.is_dialog or self.obstacle in (COPY_MODE, DRAFT, LEFT, HELD)


def read(recipe: Recipe, look: Look, report: Report | None, launched_at: float | None) -> Reading:
    """What `look` means, given the agent's last own `report` and when it was launched."""
    live = regions(recipe.screen, look)
    tried = tuple(_try(rule, live) for rule in recipe.screen.rules)
    age = look.at - launched_at if launched_at is not None else None
    screen = _claim(tried, Witness.SCREEN)
    signal = _claim(tried, Witness.SIGNAL)
    told = _told(recipe, report, screen, signal, live.above, look.at)
    claims = tuple(claim for claim in (told, signal, screen) if claim)
    state, kind, detail, by = _decide(recipe, look, claims, age)
    is_open = _is_open(live, state, kind, claims)
    return Reading(
        state=state,
        kind=kind,
        detail=detail,
        decided_by=by,
        open=is_open and not look.pane.in_mode,
        obstacle=_obstacle(look, live, is_open, state, kind, detail),
        composer=live.composer,
        still=_fingerprint(live, state),
        above=_digest(live.above),
        background=_background(recipe, live),
        claims=claims,
        tried=tried,
    )


def gone(why: str = "its session is gone") -> Reading:
    """The reading of a member whose pane does not exist."""
    return _without_screen(State.EXITED, why)


def held() -> Reading:
    """The reading of a member whose agent is started when the first one's trust question is answered."""
    return _without_screen(State.STARTING, HELD)


def agentless() -> Reading:
    """The reading of a member that has no agent."""
    return _without_screen(State.UNKNOWN, "it has no agent")


def unseen(why: str) -> Reading:
    """The reading after a look that failed: no evidence of anything."""
    return _without_screen(State.UNKNOWN, why)


def _without_screen(state: State, why: str) -> Reading:
    return Reading(state, "", why, Witness.PROCESS, open=False, obstacle=why, composer=None, still="")


def _try(rule: Rule, live: Regions) -> Tried:
    text = live.text(rule.region)
    for pattern in rule.match:
        if not compiled(pattern).search(text):
            return Tried(rule, f"`{pattern}` is not in the {rule.region}")
    for pattern in rule.unless:
        if compiled(pattern).search(text):
            return Tried(rule, f"`{pattern}` is in the {rule.region}")
    if rule.empty and live.text("composer"):
        return Tried(rule, "something stands in the composer")
    return Tried(rule, "", found_words(compiled(rule.detail).search(text)) if rule.detail else "")


def _claim(tried: tuple[Tried, ...], witness: Witness) -> Claim | None:
    """What the matched rules of one witness say: a dialog before a limit before working before rest."""
    titles = witness is Witness.SIGNAL
    matched = [one for one in tried if one.matched and (one.rule.region == "title") is titles]
    if not matched:
        return None
    best = min(matched, key=lambda one: ORDER.index(one.rule.state))
    return Claim(witness, best.rule.state, best.rule.kind or "", best.detail)


def _told(
    recipe: Recipe, report: Report | None, screen: Claim | None, signal: Claim | None, above: str, at: float
) -> Claim | None:
    """The agent's own report, which hooks with holes may have left behind."""
    if report is None or recipe.hooks is None:
        return None
    is_unreported = any(compiled(pattern).search(above) for pattern in recipe.hooks.unreported)
    why = _contrary(report, screen, signal, at - report.at, 0.0 if is_unreported else recipe.hooks.stale)
    detail = _limit_words(recipe, report.payload) if report.state is State.LIMITED else ""
    return Claim(Witness.REPORT, report.state, report.kind, detail, report.at, why)


def _limit_words(recipe: Recipe, payload: str) -> str:
    """When a limit ends, from a hook's input, by the patterns that find it on the screen."""
    patterns = [rule.detail for rule in recipe.screen.rules if rule.state is State.LIMITED and rule.detail]
    found = (compiled(pattern).search(payload) for pattern in patterns)
    return next((found_words(one) for one in found if one), "")


def _contrary(report: Report, screen: Claim | None, signal: Claim | None, age: float, stale: float) -> str:
    """Why a report no longer counts: it is old and the screen shows the contrary, or nothing at all."""
    state, shows = report.state, screen.state if screen else None
    asks = state is State.NEEDS_INPUT and report.kind == Kind.QUESTION
    is_over = shows in OVER and (signal is None or signal.state is State.REST)
    if state is State.EXITED:
        return "its process is still there"
    if state in (State.NEEDS_INPUT, *OVER) and shows is State.WORKING:
        return "the screen shows work"
    if is_over and not asks and state not in (State.REST, State.ERRORED, State.LIMITED, shows) and age > stale:
        return f"the screen shows {shows}, and it is {age:.0f} s old"
    if state is State.NEEDS_INPUT and not asks and shows is not State.NEEDS_INPUT and age > stale:
        return f"no question is on the screen, and it is {age:.0f} s old"
    is_confirmed = State.WORKING in (shows, signal.state if signal else None)
    if state is State.WORKING and not is_confirmed and age > SILENCE:
        return f"nothing on the screen confirms it, and it is {age:.0f} s old"
    return ""


def _decide(
    recipe: Recipe, look: Look, claims: tuple[Claim, ...], age: float | None
) -> tuple[State, str, str, Witness]:
    """The first of these that holds: dead, a dialog in sight, the best fresh claim that is not rest, proven rest."""
    pane = look.pane
    if pane.dead:
        return State.EXITED, "", _exit_words(pane.exit_status), Witness.PROCESS
    if not _in_foreground(recipe, look):
        if age is not None and age < recipe.proof.first_moments + 1:
            return State.STARTING, "", "", Witness.PROCESS
        return State.UNKNOWN, "", f"`{quoted(pane.command)}` is in the foreground, not the agent", Witness.PROCESS
    fresh = [claim for claim in claims if not claim.stale]
    for claim in fresh:
        if claim.witness is Witness.SCREEN and claim.state is State.NEEDS_INPUT:
            return claim.state, claim.kind, claim.detail, claim.witness
    for claim in fresh:
        if claim.state is not State.REST:
            return claim.state, claim.kind, claim.detail, claim.witness
    reported = any(claim.witness is Witness.REPORT for claim in claims)
    missing = _missing_for_rest(recipe, fresh, age, reported=reported)
    if fresh and not missing:
        return State.REST, "", "", fresh[0].witness
    if age is not None and age < recipe.proof.starting and not reported:
        return State.STARTING, "", missing if fresh else "", Witness.SCREEN
    return State.UNKNOWN, "", missing, Witness.SCREEN


def _missing_for_rest(recipe: Recipe, fresh: list[Claim], age: float | None, *, reported: bool) -> str:
    """Which sign of rest is not there yet; empty when all are."""
    if not recipe.proof.rest:
        return "its recipe cannot prove rest"
    rests = {claim.witness for claim in fresh if claim.state is State.REST}
    if Witness.SCREEN not in rests:
        return "no rule fits the screen"
    if age is not None and age < recipe.proof.first_moments:
        return "it has only just started"
    if recipe.hooks and not reported and age is not None and age < recipe.hooks.grace:
        return "it has not reported that it is ready"
    if recipe.has_signal and Witness.SIGNAL not in rests:
        return "its title does not say that it rests"
    return ""


def _in_foreground(recipe: Recipe, look: Look) -> bool:
    return any(compiled(pattern).fullmatch(look.pane.command) for pattern in recipe.program.commands)


def _exit_words(status: int | None) -> str:
    return "its agent has exited" if status is None else f"its agent exited with code {status}"


def _is_open(live: Regions, state: State, kind: str, claims: tuple[Claim, ...]) -> bool:
    """Whether words would land in the composer: at rest, or asking or after an error with no witness against it."""
    if live.composer is None or state is State.REST:
        return live.composer is not None
    if state is not State.ERRORED and (state, kind) != (State.NEEDS_INPUT, Kind.QUESTION):
        return False
    fresh = [claim for claim in claims if not claim.stale]
    return any(claim.witness is Witness.SCREEN for claim in fresh) and all(_is_calm(claim) for claim in fresh)


def _is_calm(claim: Claim) -> bool:
    return claim.state in (State.REST, State.ERRORED) or claim.kind == Kind.QUESTION


def _obstacle(look: Look, live: Regions, is_open: bool, state: State, kind: str, detail: str) -> str:  # noqa: FBT001
    """Why nothing may be typed now, in the words the row shows."""
    if look.pane.dead:
        return detail
    if state is State.NEEDS_INPUT and kind != Kind.QUESTION:
        return WAITS.get(kind, "it asks a question")
    if look.pane.in_mode:
        return COPY_MODE
    if not is_open:
        return BUSY.get(state, "its composer is not on the screen")
    return DRAFT if live.composer and live.composer.text else ""


HELD = "it starts when the first one's trust question is answered"
COPY_MODE = "its pane is in copy mode"
DRAFT = "somebody's draft is in its composer"
LEFT = "an earlier prompt stands in its composer, not submitted"
TYPING = "another prompt is being typed to it"
WAITS: dict[str, str] = {
    Kind.TRUST: "it asks whether you trust the folder",
    Kind.LOGIN: "it asks you to log in",
    Kind.PERMISSION: "it asks for your permission",
    Kind.CHOICE: "it asks you to choose",
}
BUSY: dict[State, str] = {
    State.STARTING: "it is still starting",
    State.WORKING: "it is working",
    State.LIMITED: "its usage limit is reached",
    State.ERRORED: "its last turn ended in an error",
    State.UNKNOWN: "its state cannot be told from the screen",
}


def _background(recipe: Recipe, live: Regions) -> str:
    """Work that goes on after a turn, as the footer or what stands directly above the box names it."""
    if not recipe.screen.background:
        return ""
    found = (compiled(recipe.screen.background).search(text) for text in (live.footer, live.above))
    return next((found_words(one, 0) for one in found if one), "")


def _fingerprint(live: Regions, state: State) -> str:
    """What must stand still before anything is typed: composer, dialog (not the footer below a box), title."""
    composer = live.composer
    parts = [state, live.title]
    parts += [composer.text, composer.ghost, str(composer.first)] if composer else [live.dialog]
    return "\0".join(parts)


def _digest(text: str) -> str:
    """Two texts of one digest only withhold a piece of evidence; `hashlib` takes as long to load as ten of us."""
    return f"{len(text)}.{crc32(text.encode('utf-8', 'surrogatepass')):08x}"
