"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import time
from typing import Any

_WORTH_A_BAR = 200  # files; fewer are usually done before the bar is drawn
_PATIENCE_SECONDS = 1.0  # after which even a few steps get a bar


class ProgressBar:
    """Hears (steps done, steps to do); loads the drawing library only when there is something to draw."""

    def __init__(self) -> None:
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

        columns = (TextColumn("working"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("working", total=total)
        self._bar.start()
