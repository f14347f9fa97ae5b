"""What can go wrong, as the person sees it.

Every refusal is a `FanError`: one sentence that says what was refused, a code that scripts rely on,
what was not done, and the next command to run. Doors translate foreign errors into these.
"""

from __future__ import annotations


class FanError(Exception):
    """It could not be done; the message says why.

    The base of all refusals. `code` and `exit_code` never change their meaning (docs/errors.md).
    """

    code = "failed"
    exit_code = 1

    def __init__(self, message: str, *, not_done: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.not_done = not_done
        self.hint = hint

    def as_dict(self) -> dict[str, str]:
        """The object scripts get under `error` with `--json`."""
        return {
            "code": self.code,
            "message": self.message,
            "not_done": self.not_done,
            "hint": self.hint,
        }


class UsageError(FanError):
    """The command line or a request does not make sense."""

    code = "usage"
    exit_code = 2


class NotFound(FanError):
    """The named thing does not exist."""

    code = "not_found"


class Ambiguous(FanError):
    """The name fits several things."""

    code = "ambiguous"


class AlreadyExists(FanError):
    """The name is taken."""

    code = "exists"


class NotAllowed(FanError):
    """The caller may not do this."""

    code = "not_allowed"


class Blocked(FanError):
    """A dialog, a draft or a copy mode is in the way; it belongs to the person."""

    code = "blocked"


class NotReady(FanError):
    """The agent is not at rest."""

    code = "not_ready"


class TargetGone(FanError):
    """The pane or its whole server is gone."""

    code = "target_gone"


class Empty(FanError):
    """There is nothing to send."""

    code = "empty"


class TooLarge(FanError):
    """A bound of size was passed."""

    code = "too_large"


class Dirty(FanError):
    """Uncommitted work is in the way."""

    code = "dirty"


class Conflict(FanError):
    """Two things would claim the same name, branch or lines."""

    code = "conflict"


class Busy(FanError):
    """Another process holds the lock."""

    code = "busy"


class NeedsApproval(FanError):
    """A repository's file asks for commands or files that no person has agreed to yet.

    `fingerprint` stands for what `lines` say.
    """

    code = "needs_approval"

    def __init__(self, message: str, fingerprint: str, lines: tuple[str, ...], *, not_done: str, hint: str) -> None:
        super().__init__(message, not_done=not_done, hint=hint)
        self.fingerprint = fingerprint
        self.lines = lines


class SetupFailed(FanError):
    """A setup command failed; the worktree stays."""

    code = "setup_failed"


class ToolMissing(FanError):
    """A program is missing or too old."""

    code = "tool_missing"


class NoCommit(FanError):
    """The repository has no commit to start from."""

    code = "no_commit"


class BadRecipe(FanError):
    """A recipe file is not valid: file, key and reason are in the message."""

    code = "bad_recipe"


class BadSetting(FanError):
    """A setting is not valid: where it came from is in the message."""

    code = "bad_setting"


class GitFailed(FanError):
    """git refused; its own words are in the message."""

    code = "git_failed"


class TmuxFailed(FanError):
    """tmux refused or did not answer; its own words are in the message."""

    code = "tmux_failed"


class StoreFailed(FanError):
    """The state file is damaged, newer than this program, or cannot be written."""

    code = "store_failed"


class DiskFailed(FanError):
    """A file could not be read or written."""

    code = "disk_failed"


class TimedOut(FanError):
    """The time of a wait, an answer or a command was up."""

    code = "timed_out"
    exit_code = 6


class Interrupted(FanError):
    """Ctrl-C."""

    code = "interrupted"
    exit_code = 130


class RateLimited(FanError):
    """Too many in too short a time."""

    code = "rate_limited"


class Undeliverable(FanError):
    """Nobody is there who could read it."""

    code = "undeliverable"


class OwnChat(FanError):
    """The target is the caller itself."""

    code = "own_chat"


class NoKeyboard(FanError):
    """The target is nobody that words can be typed to."""

    code = "no_keyboard"


class Cycle(FanError):
    """Whoever is asked waits for the asker already."""

    code = "cycle"
