"""Which names do some lines use that this index defines elsewhere?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from satchel.retrieval.corpus import Corpus
from satchel.types import ChunkKind

_LOOKED_UP = 12  # names, the most used first
_TOO_COMMON = 3  # definitions of a name; above this it is not clear which is meant
_LEAST_LETTERS = 4  # shorter names are mostly local
_CODE = frozenset(ChunkKind) - {ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT, ChunkKind.FILE}


class Unexplained(NamedTuple):
    """A name, how often it is used, and where it is defined."""

    name: str
    uses: int
    path: str
    line: int


def unexplained(corpus: Corpus, spans: Sequence[tuple[str, int, int]]) -> list[Unexplained]:
    """Names that lines of these spans call, use or extend, defined in this index outside of them."""
    inside: dict[str, set[int]] = defaultdict(set)
    for path, first, last in spans:
        inside[path].update(range(first, last + 1))
    used: Counter[str] = Counter()
    for path, own in inside.items():
        used.update(name for name, line in corpus.uses(path) if line in own)
    found = []
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    for name, uses in [item for item in ranked if len(item[0]) >= _LEAST_LETTERS][:_LOOKED_UP]:
        records = [
            record
            for record in corpus.snapshot.symbols_named(name)
            if record.symbol.name == name and record.symbol.kind in _CODE
        ]
        shown = any(record.symbol.start_line in inside.get(record.path, ()) for record in records)
        if records and len(records) <= _TOO_COMMON and not shown:
            found.append(Unexplained(name, uses, records[0].path, records[0].symbol.start_line))
    return found
