"""Colour on a terminal, and none anywhere else."""

from __future__ import annotations

import time
from typing import Any

import msgspec


class Style(msgspec.Struct, frozen=True):
    """Wraps text in ANSI colours if they are wanted."""

    colour: bool = False

    def path(self, text: str) -> str:
        return self._wrap("36", text)

    def name(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def error(self, text: str) -> str:
        return self._wrap("31", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


_WORTH_A_BAR = 200  # files; fewer are usually done before the bar is drawn
_PATIENCE_SECONDS = 1.0  # after which even a few steps get a bar


class ProgressBar:
    """Hears (steps done, steps to do); loads the drawing library only when there is something to draw."""

    def __init__(self, label: str = "indexing") -> None:
        self._label = label
        self._bar: Any = None
        self._task: Any = None
        self._since = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None and done < total and self._is_worth_it(total):
            self._start(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
            if done >= total:
                self._bar.stop()
                self._bar = None

    def _is_worth_it(self, total: int) -> bool:
        return total >= _WORTH_A_BAR or time.monotonic() - self._since > _PATIENCE_SECONDS

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(self._label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._label, total=total)
        self._bar.start()
