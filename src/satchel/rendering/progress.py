"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

from typing import Any

_WORTH_A_BAR = 200  # files; fewer are done before the bar is drawn


class ProgressBar:
    """Hears (files done, files to do); loads the drawing library only when there is something to draw."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None and total >= _WORTH_A_BAR:
            self._start(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
            if done >= total:
                self._bar.stop()
                self._bar = None

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("indexing", total=total)
        self._bar.start()
