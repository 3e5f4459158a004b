"""Questions about an edge: "who calls X", "subclasses of X", "which tests cover X".

The code graph answers them. The chunks that hold the uses are passages of their own, which promise more than
any that was found by words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from satchel import ids
from satchel.code_facts import Target
from satchel.retrieval.code_graph import importers_of, uses_of
from satchel.retrieval.code_symbols import code_symbols
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.overrides import overridden, overriding
from satchel.retrieval.passage_spans import is_definition, qualified_name
from satchel.retrieval.references import definition_targets
from satchel.storage.records import ChunkRecord
from satchel.types import Label, Passage

_MOST_PASSAGES = 24
_FADING = 0.97  # what a passage promises against the one before it: nearer uses come first
_NAME = r"`?((?:[^\W\d][\w$]*(?:\.|::|#|->))*[^\W\d][\w$]*[?!]?)(?:\(\))?`?"
_CALLS = frozenset({Label.CALLS})
_USES = frozenset({Label.CALLS, Label.USES})
_EXTENDS = frozenset({Label.EXTENDS})
_IMPORTS = frozenset({Label.IMPORTS})
_THINGS = r"(?:code|functions?|methods?|class(?:es)?|files?|modules?|places?|tests?)"
_WHO = rf"\b(?:who|what|which (?:\w+ )?{_THINGS})"
_QUESTIONS: tuple[tuple[re.Pattern[str], frozenset[Label], bool], ...] = tuple(
    (re.compile(pattern + " " + _NAME + end, re.IGNORECASE), labels, tests)
    for pattern, end, labels, tests in (
        (rf"{_WHO} (?:directly )?(?:calls?|invokes?)", "", _CALLS, False),
        (r"\bcall(?:er|ers|s| sites?) (?:of|to|for)", "", _CALLS, False),
        (r"\bwhere (?:is|are|do we|does \w+)", r" (?:called|invoked)\b", _CALLS, False),
        (
            rf"{_WHO} (?:extends?|inherits? from|subclass(?:es)?|implements?|derives? from)",
            "",
            _EXTENDS,
            False,
        ),
        (r"\b(?:sub ?class(?:es)?|implementations?|implement[eo]rs?|children) of", "", _EXTENDS, False),
        (rf"{_WHO} (?:tests?|covers?)", "", _USES, True),
        (r"\btests? (?:of|for|that (?:use|cover|call))", "", _USES, True),
        (rf"{_WHO} imports?", "", _IMPORTS, False),
        (r"\b(?:importers?|imports) of", "", _IMPORTS, False),
        (rf"{_WHO} (?:uses?|references?|refers? to|depends? on)", "", _USES, False),
        (r"\b(?:uses?|usages?|users?|references?|dependants?|dependents?) (?:of|to|on)", "", _USES, False),
        (r"\bwhere (?:is|are)", r" used\b", _USES, False),
    )
)


class RelationQuestion(msgspec.Struct, frozen=True):
    """What is asked about a name: who uses it, in which way, and whether only tests are meant."""

    name: str
    labels: frozenset[Label]
    tests: bool


def relation_question(text: str) -> RelationQuestion | None:
    """Return the question about an edge that a short text asks, None if it asks something else."""
    if "\n" in text.strip():
        return None
    for pattern, labels, tests in _QUESTIONS:
        if match := pattern.search(text):
            return RelationQuestion(match[1], labels, tests)
    return None


def relation_passages(corpus: Corpus, text: str) -> list[Passage]:
    """Return the passages that answer a question about an edge by the code graph, nearest first; none if the
    text asks nothing of the kind, or about a name that is not defined here."""
    asked = relation_question(text)
    if asked is None:
        return []
    targets = definition_targets(corpus, asked.name)
    if not targets:
        return []
    own = {target.path for target in targets}
    # Who calls the member of a base type may run the one that is asked about.
    bases = (base for target in targets for base in overridden(corpus, target))
    meant = targets if Label.EXTENDS in asked.labels else list(dict.fromkeys((*targets, *bases)))
    places = [(use.path, use.line) for use in uses_of(corpus, meant) if use.label in asked.labels]
    if Label.EXTENDS in asked.labels:
        places += _overriding(corpus, targets)
    if Label.IMPORTS in asked.labels and not places:
        places = [place for path in sorted(own) for place in importers_of(corpus, path)]
    if asked.tests:
        places = [place for place in places if corpus.is_test(place[0])]
    ordered = sorted(places, key=lambda place: (corpus.is_test(place[0]), place[0] not in own, place))
    return list(
        _passages(corpus, ordered, next(iter(asked.labels)) if len(asked.labels) == 1 else Label.USES)
    )


def _overriding(corpus: Corpus, targets: Sequence[Target]) -> Iterator[tuple[str, int]]:
    """Yield where the members stand that override some definitions."""
    for target in targets:
        for other in overriding(corpus, target):
            found = (item for item in code_symbols(corpus, other.path) if item.qualified_name == other.name)
            yield from ((other.path, symbol.start_line) for symbol in found)


def _passages(corpus: Corpus, places: Sequence[tuple[str, int]], label: Label) -> Iterator[Passage]:
    """Yield the chunk around each place once, with the line of its first use."""
    seen: set[int] = set()
    for path, line in places:
        for chunk in corpus.snapshot.chunks(path, line, line)[:1]:
            if chunk.number not in seen and len(seen) < _MOST_PASSAGES:
                seen.add(chunk.number)
                yield _passage(corpus, chunk, label, len(seen) - 1)


def _passage(corpus: Corpus, chunk: ChunkRecord, label: Label, place: int) -> Passage:
    record = corpus.files[corpus.position_of[chunk.path]]
    lines = corpus.lines(chunk.path)[chunk.start_line - 1 : chunk.end_line]
    return Passage(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        rank=place,
        score=0.0,
        promise=round(_FADING**place, 9),
        size=sum(map(len, lines)),
        chunk_id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
        kind=chunk.kind,
        name=qualified_name(chunk),
        language=record.language,
        tags=record.tags,
        head=(chunk.start_line, chunk.start_line),
        names=((chunk.start_line, chunk.kind, qualified_name(chunk)),) if chunk.title_path else (),
        whole=True,
        defines=is_definition(chunk),
        named=False,
        asked=label is Label.EXTENDS,
        only_imports=False,
        reasons=(label.value,),
    )
