"""The program `fan`. What agents' hooks call a hundred times a day is told apart before anything heavy loads."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line of this process and exit."""
    try:
        _run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules load: later the verb itself is told
        if "--json" in sys.argv:
            _is_said('{"error": {"code": "interrupted", "message": "interrupted", "not_done": "", "hint": ""}}\n')
        else:
            os.write(2, b"fan: interrupted\n")
        os._exit(130)


def _run(words: list[str]) -> None:
    if words[:1] == ["report"] and "--help" not in words and "-h" not in words:
        from fan.cli.hot import report

        report(words[1:])
        return
    if words in (["mail", "read"], ["mail", "read", "--unread"]):
        from fan.cli.hot import has_no_mail

        if has_no_mail(unread=len(words) > 2) and _is_said("no mail\n"):
            return
    # What a start loads stays: looking through it for garbage again and again takes a tenth of the time.
    gc.set_threshold(50_000)
    _speak_utf8()
    load_msgspec()
    from fan.cli import listing

    if listing.is_plain(words):
        listing.leave(listing.run(words))
    from fan.cli.app import run

    sys.exit(run(words))


def _is_said(text: str) -> bool:
    """Whether standard output has taken it; where not, the whole verb says what is wrong."""
    try:
        return sys.stdout is not None and os.write(sys.stdout.fileno(), text.encode()) == len(text)
    except OSError:
        return False


def load_msgspec() -> None:
    """Have it make do with `typing`; where `typing_extensions` is installed it would load that, which is slow."""
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    import msgspec  # noqa: F401

    del sys.modules["typing_extensions"]


def _speak_utf8() -> None:
    """Start again in UTF-8 mode where the locale offers less: names and prompts could not be passed on whole."""
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


if __name__ == "__main__":
    main()
