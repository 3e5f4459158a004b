"""What only a terminal gets: colours, and a progress bar for long work."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import msgspec

from satchel.plugins import late

if TYPE_CHECKING:
    from satchel import languages
    from satchel.rendering import highlighting
else:  # a pipe has no colours
    languages, highlighting = late("satchel.languages"), late("satchel.rendering.highlighting")

# The colours of code, by the class that a token has on pages.
_CODE_COLOURS = {"k": "35", "s": "32", "c": "2", "n": "33", "t": "36", "f": "34", "a": "33"}
_LANGUAGE_CHARS = 500  # of a text that tell its language where its path does not
_WORTH_A_BAR = 200  # files; fewer are usually done before the bar is drawn
_PATIENCE_SECONDS = 1.0  # after which even a few steps get a bar
_REDRAW_SECONDS = 0.1  # drawing more often would only flicker
_BAR_WIDTH = 40  # characters


class Style(msgspec.Struct, frozen=True):
    """Wraps text in ANSI colours, or leaves it as it is without `colour`."""

    colour: bool = False

    def path(self, text: str) -> str:
        """Return a path or a locator, in its colour."""
        return self._wrap("36", text)

    def name(self, text: str) -> str:
        """Return a name or a heading, in its colour."""
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        """Return a text of less importance, in its colour."""
        return self._wrap("2", text)

    def error(self, text: str) -> str:
        """Return a text that says something is wrong, in its colour."""
        return self._wrap("31", text)

    def added(self, text: str) -> str:
        """Return a text that a change added, in its colour."""
        return self._wrap("32", text)

    def code(self, text: str, path: str) -> list[str]:
        """Return the lines of a code text, in the colours of its language; the path tells which that is."""
        if not self.colour:
            return text.split("\n")
        rows = highlighting.highlight(text, languages.detect(path, text[:_LANGUAGE_CHARS]))
        return ["".join(self._wrap(_CODE_COLOURS.get(kind, ""), part) for kind, part in row) for row in rows]

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text


class ProgressBar:
    """One line on standard error, drawn anew while work goes on and taken away at its end.

    It stands in for the library `rich`, of which Satchel used the progress bar alone: with the packages that
    the library needs it was 4 of 46 packages and 12.6 of 160 MB of an installation, and took 40 ms to load.
    When more is to be drawn than a line of progress, the library is the better choice again.
    """

    def __init__(self, label: str = "indexing") -> None:
        self._label = label
        self._since = time.monotonic()
        self._started = 0.0
        self._redraw_at = 0.0
        self._drawn = 0  # characters on the line

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` steps are done."""
        if not self._drawn:
            if done >= total or not self._is_worth_it(total):
                return
            self._started = time.monotonic()
        if done >= total or time.monotonic() >= self._redraw_at:
            self._draw(done, total)
        if done >= total:
            self._clear()

    def _is_worth_it(self, total: int) -> bool:
        return total >= _WORTH_A_BAR or time.monotonic() - self._since > _PATIENCE_SECONDS

    def _draw(self, done: int, total: int) -> None:
        filled = _BAR_WIDTH * done // total
        bar = "━" * filled + "·" * (_BAR_WIDTH - filled)
        line = f"{self._label} {bar} {done}/{total}{self._left(done, total)}"
        self._write("\r" + line.ljust(self._drawn))
        self._drawn = len(line)
        self._redraw_at = time.monotonic() + _REDRAW_SECONDS

    def _left(self, done: int, total: int) -> str:
        """Return how long the rest takes if it goes on as before, once that can be guessed."""
        seconds = time.monotonic() - self._started
        if not done or done >= total or seconds < _PATIENCE_SECONDS:
            return ""
        minutes, rest = divmod(round(seconds / done * (total - done)), 60)
        return f" {minutes}:{rest:02} left"

    def _clear(self) -> None:
        self._write("\r" + " " * self._drawn + "\r")
        self._drawn, self._redraw_at = 0, 0.0

    def _write(self, text: str) -> None:
        # The encoding of a terminal may lack the characters of the bar, which must not end the work.
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()
