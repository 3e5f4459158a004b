"""What does Satchel answer? Its commands are asked as a server asks them: request in, envelope out.

Answers are read as plain data, so that older and newer forms of `refs` can be compared: a row without `rule`
was matched by name, one without `sure` is shown without being asked for and counts as sure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from satchel import plugins
from satchel.commands.command import Command
from satchel.commands.freshness import StalePolicy
from satchel.commands.session import CallOptions
from satchel.engine import Engine
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request, encode

_ALL = 10_000_000
_AS_IS = CallOptions(stale_policy=StalePolicy.WARN)


class Row(NamedTuple):
    """One use as `refs` states it."""

    path: str
    line: int
    label: str
    target: str
    confidence: float
    rule: str
    sure: bool


class Satchel:
    """One repository with its index, open for questions."""

    def __init__(self, root: Path, index: Path) -> None:
        index.mkdir(parents=True, exist_ok=True)
        with Engine.open(root, index_dir=index) as engine:
            engine.refresh()
            self.files = frozenset(record.path for record in engine.snapshot().files())
        self._dispatcher = Dispatcher([root], index_dir=str(index))
        command: Command = plugins.load("command", "refs")
        self._possible = {"possible": True} if "possible" in command.request.__struct_fields__ else {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dispatcher.close()

    def ask(self, action: str, payload: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the data of an answer; None if the command refused, as for a name that is not there."""
        response = self._dispatcher.answer(Request(action, dict(payload), _AS_IS))
        envelope = msgspec.json.decode(encode(response))
        data: dict[str, Any] | None = envelope["data"] if envelope["status"] == "ok" else None
        return data

    def uses(self, name: str, labels: Sequence[str] = ()) -> list[Row]:
        """Return all uses of a name or file, the possible ones too where the command has them."""
        answer = self.ask("refs", {"name": name, "labels": labels, "limit": _ALL, **self._possible})
        return [read_row(row) for row in answer["references"]] if answer else []

    def symbol_ranges(self) -> dict[tuple[str, str], list[tuple[int, int]]]:
        """Return the lines of all symbols as the index has them today, by path and qualified name."""
        found: dict[tuple[str, str], list[tuple[int, int]]] = {}
        answer = self.ask("symbols", {"limit": _ALL})
        for symbol in answer["symbols"] if answer else ():
            key = symbol["path"], symbol["qualified_name"]
            found.setdefault(key, []).append((symbol["start_line"], symbol["end_line"]))
        return found


def read_row(row: Mapping[str, Any]) -> Row:
    """Read a row of `refs`, as it is today or as it was before edges were resolved."""
    return Row(
        path=row["path"],
        line=row["line"],
        label=row["label"],
        target=row["target"],
        confidence=row["confidence"],
        rule=row.get("rule") or "name",
        sure=row.get("sure", True),
    )
