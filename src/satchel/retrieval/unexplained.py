"""Which names do some lines use that this index defines elsewhere?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial

import msgspec

from satchel.retrieval.at_hand import AtHand
from satchel.retrieval.corpus import Corpus
from satchel.types import ChunkKind

_LOOKED_UP = 12  # names, the most used first
_LOOKED_UP_FOR_SOME = 36  # so that those of any choice of the spans are nearly always among them
_TOO_COMMON = 3  # definitions of a name; above this it is not clear which is meant
_LEAST_LETTERS = 4  # shorter names are mostly local
_NAMES_AT_HAND = 10_000  # about 2 MB
_CODE = frozenset(ChunkKind) - {ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT, ChunkKind.FILE}


_defined: AtHand[str, tuple[tuple[str, int], ...]] = AtHand(_NAMES_AT_HAND)


class Unexplained(msgspec.Struct, frozen=True):
    """A name, how often it is used, and where it is defined."""

    name: str
    uses: int
    path: str
    line: int


def unexplained(
    corpus: Corpus, spans: Sequence[tuple[str, int, int]], *, some: bool = False
) -> list[Unexplained]:
    """Names that lines of these spans call, use or extend, defined in this index outside of them; with `some`
    those that may be found so when only some of the spans are shown."""
    inside: dict[str, set[int]] = defaultdict(set)
    for path, first, last in spans:
        inside[path].update(range(first, last + 1))
    used: Counter[str] = Counter()
    for path, own in inside.items():
        used.update(name for name, line in corpus.uses(path) if line in own)
    found = []
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    most = _LOOKED_UP_FOR_SOME if some else _LOOKED_UP
    for name, uses in [item for item in ranked if len(item[0]) >= _LEAST_LETTERS][:most]:
        places = _defined.get(corpus, name, partial(_definitions, corpus, name))
        if places and (some or not any(line in inside.get(path, ()) for path, line in places)):
            found.append(Unexplained(name, uses, *places[0]))
    return found


def _definitions(corpus: Corpus, name: str) -> tuple[tuple[str, int], ...]:
    """Where a name is defined; nothing if that is in too many places."""
    places = tuple(
        (record.path, record.symbol.start_line)
        for record in corpus.snapshot.symbols_named(name)
        if record.symbol.name == name and record.symbol.kind in _CODE
    )
    return places if len(places) <= _TOO_COMMON else ()
