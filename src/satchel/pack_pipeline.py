"""One query → one pack: the straight line over retrieval and packing.

query → candidates → ranked files → passages → sections → selection → items → guidance. What is counted is
the text that the caller receives, last of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from satchel import ids, languages
from satchel.corpus_reading import CorpusReading, PackOrigin
from satchel.pack_request import PackLayout, PackRequest
from satchel.packing import guidance
from satchel.packing.assembly import Assembly, FilledPack
from satchel.packing.budget import Gauge, make_within
from satchel.packing.pack import Counts, Item, Pack, Role, Trust
from satchel.packing.sections import Section
from satchel.packing.selection import PackPlan
from satchel.retrieval import candidates, ranker
from satchel.retrieval.anchors import find_anchors, is_only_anchor
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import ExternalName, external_names
from satchel.retrieval.hit_lines import (
    pointed_lines,
    term_worths,
    terms_of_names,
)
from satchel.retrieval.intent import Intent
from satchel.retrieval.passages import score_passages, split_by_chunk
from satchel.retrieval.query import parse_query
from satchel.retrieval.related import RelatedChunk, find_related
from satchel.retrieval.relation_questions import relation_passages
from satchel.retrieval.search import gather_evidence
from satchel.retrieval.suggest import suggest
from satchel.retrieval.sureness import Sureness, measure
from satchel.settings import QUALITY
from satchel.tokenizers import characters_of
from satchel.types import Passage, RelatedMode, Strategy, Suggestion

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

FILES = 40  # that passages are taken from, or that are at least named
_ALL = 1_000_000  # passages: which are of a kind is known only when they are cut
_CHARS_PER_NAME = 1_200  # one more file is named for so much more that is shown
_CHARS_PER_NAME_OF_REPORT = 2_700  # a report says more of what it means, so fewer files may be meant
_MOST_QUERIES = 3  # that are proposed
_CLEAR = 0.7  # how sure it must be what a question asks for before that decides
_OTHER_KIND = 0.6  # what a document is worth where code is preferred, and the other way round
_BY_WORDS = 0.3  # what a passage promises that words found, where the code graph answers the question


HOPS = {Strategy.DIRECT: 0, Strategy.EXTENDED: 1, Strategy.DEEP: 2}


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _suggestion(found: ExternalName) -> Suggestion:
    return Suggestion(found.name, f"used here {_times(found.uses)}, defined at {found.path}:{found.line}")


def _promise_at(passages: Sequence[Passage], path: str, line: int) -> float:
    """Return what the passage that holds a line promises; 0 if none of the passages does."""
    return next(
        (one.promise for one in passages if one.path == path and one.start_line <= line <= one.end_line), 0.0
    )


def _overlaps(passage: Passage, ends: Collection[tuple[str, int]]) -> bool:
    """Return whether the first or last line of another passage is inside one."""
    return any(path == passage.path and passage.start_line <= line <= passage.end_line for path, line in ends)


class PackPipeline:
    """Makes the pack that one request asks of one generation of an index."""

    def __init__(self, corpus: Corpus, request: PackRequest, origin: PackOrigin) -> None:
        self.corpus = corpus
        self.request = request
        self.origin = origin
        self.query = characters_of(request.query)  # no JSON holds a lone surrogate
        self.filters = request.filters
        profile = origin.profile
        count = len(corpus.files) if self.filters.by_kind else candidates.CANDIDATES
        self.context = gather_evidence(corpus, self.query, self.filters, count, profile)
        self.weights = self._weights()
        self.asked = self.context.query if self.context else parse_query(self.query)
        self.anchors = find_anchors(corpus, self.asked)
        rarity = term_worths(self.context.evidence) if self.context else {}
        pointed = pointed_lines(self.context) if self.context else {}
        self.reading = CorpusReading(corpus, origin, rarity, pointed, terms_of_names(self.asked))

    def _weights(self) -> Mapping[str, float]:
        """Return what the signals of files and of passages weigh; what the request says comes first."""
        if self.context is None:
            return {}
        of_files = self.request.weights or ranker.weights_for(self.context, self.origin.profile)
        return {**ranker.weights(ranker.PASSAGES), **of_files}

    @cached_property
    def _signals(self) -> dict[str, Floats]:
        """Return the signals of the candidates."""
        return ranker.signals(self.context) if self.context is not None else {}

    def sureness(self) -> Sureness:
        """Return how sure it is that the query is about this repository and the best file answers it."""
        if self.context is None:
            return Sureness()
        return measure(self.context, ranker.score(self._signals, self.weights, self.context.count))

    def pack(self, gauge: Gauge) -> Pack:
        """Return the pack that is asked for, within the budget of the gauge."""
        if self.request.layout is PackLayout.FLAT:
            found = self._flat_passages()
            return make_within(gauge, lambda gauge: self._flat(gauge, found))
        return make_within(gauge, self._sectioned)

    def _sectioned(self, gauge: Gauge) -> Pack:
        """Fill six sections, each passage in one of them."""
        is_report = self.context is not None and not self.context.query_terms.all_title
        plan = PackPlan(
            self.request.caps(),
            chars_per_name=_CHARS_PER_NAME_OF_REPORT if is_report else _CHARS_PER_NAME,
        )
        found = [] if self.is_elsewhere else self.passages(self.request.max_candidates)
        assembly = Assembly(self._frame(gauge, self.request.mode.value), gauge, self.reading, plan)
        return self._guided(assembly, assembly.fill(found, lambda: self._about(found, some=True)))

    def _flat_passages(self) -> list[Passage]:
        found: list[Passage] = []
        if not (self.request.say_absent_names and self.is_elsewhere):
            found = self._leaning(self.passages(candidates.CANDIDATES))
        return self._of_kind(self._by_chunk(found)) if is_only_anchor(self.asked) else found

    def _flat(self, gauge: Gauge, found: Sequence[Passage]) -> Pack:
        """List primary items by rank, then what belongs to them."""
        caps = dict.fromkeys(Section, len(found) + 1)
        plan = PackPlan(
            caps, limit=self.request.limit, with_imports=True, flat=True, apart=is_only_anchor(self.asked)
        )
        assembly = Assembly(self._frame(gauge, ""), gauge, self.reading, plan)
        filled = assembly.fill(found, lambda: self._about(found, some=True), self._related)
        return self._guided(assembly, filled)

    def passages(self, count: int) -> list[Passage]:
        """Return the passages that may answer; first those that the code graph answers with."""
        related = [item for item in relation_passages(self.corpus, self.query) if self._is_accepted(item)]
        found = self._found_passages(count)
        if not related:
            return found
        shown = {(item.path, line) for item in related for line in (item.start_line, item.end_line)}
        rest = [item for item in found if not _overlaps(item, shown)]
        score = max((item.score for item in found), default=1.0)
        last = len(related)
        return [
            *(msgspec.structs.replace(item, score=score) for item in related),
            *(
                msgspec.structs.replace(item, rank=item.rank + last, promise=item.promise * _BY_WORDS)
                for item in rest
            ),
        ]

    def _is_accepted(self, passage: Passage) -> bool:
        record = self.reading.record(passage.path)
        return self.filters.accepts_file(record) and self.filters.accepts_chunk(record, passage.kind)

    def _found_passages(self, count: int) -> list[Passage]:
        """Return the passages that words and meaning find."""
        if self.context is None:
            return []
        signals = self._signals
        if not self.filters.by_kind:
            return score_passages(self.context, signals, self.weights, files=FILES, count=count)
        every_file = self.context.count
        everything = score_passages(
            self.context, signals, self.weights, files=every_file, count=_ALL, in_detail=every_file
        )
        found = self._of_kind(self._by_chunk(everything))
        best = sorted(found, key=lambda one: -one.promise)[:count]
        return [passage for passage in found if passage in best]

    def _by_chunk(self, found: Sequence[Passage]) -> list[Passage]:
        return [one for passage in found for one in split_by_chunk(self.corpus, passage, self.asked.symbol)]

    def _of_kind(self, found: list[Passage]) -> list[Passage]:
        if not self.filters.by_kind:
            return found
        return [passage for passage in found if self._accepts(passage.path, passage.kind)]

    def _accepts(self, path: str, kind: str) -> bool:
        return self.filters.accepts_chunk(self.reading.record(path), kind)

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the query is nothing but the name of something that this repository does not
        have."""
        return (
            bool(self.anchors)
            and not any(item.hits or item.akin for item in self.anchors)
            and is_only_anchor(self.asked)
        )

    def _frame(self, gauge: Gauge, mode: str) -> Pack:
        """Return the pack without items. What must be said is in it from the start, so that there is room."""
        return Pack(
            query=self.query,
            ref=self.origin.ref,
            mode=mode,
            model_id=self.origin.model_id,
            profile=self.origin.profile,
            items=(),
            budget=gauge.budget(),
            counts=Counts(),
            trust=self._trust(),
            hints=(*self._absent(), *self.origin.notes),
        )

    def _trust(self) -> Trust:
        first = next((item for item in self.anchors if not item.hits), None) or next(iter(self.anchors), None)
        return Trust(
            retrieval_mode="hybrid" if self.origin.profile == QUALITY else "lexical",
            fallback_used=False,
            anchor_detected=first is not None,
            anchor_hits=sum(item.hits for item in self.anchors),
            anchor_not_found=first is not None and not first.hits,
            anchor_kind=first.kind.value if first else "",
            anchor_primary=first.text if first else "",
        )

    def _leaning(self, found: Sequence[Passage]) -> list[Passage]:
        """Return the passages with documents or code preferred, by a bounded factor."""
        intents = self.context.intents if self.context else {}
        prefer_code = self.request.prefer_code
        if prefer_code is None and intents.get(Intent.DOCUMENTS, 0.0) >= _CLEAR:
            prefer_code = False
        if (
            prefer_code is None
            and max(intents.get(Intent.IDENTIFIER, 0.0), intents.get(Intent.PATH, 0.0)) >= _CLEAR
        ):
            prefer_code = True
        leaning = []
        for passage in found:
            prose = languages.get(passage.language).prose
            if prose and not self.request.include_docs:
                continue
            aside = prefer_code is not None and prose == prefer_code
            leaning.append(
                msgspec.structs.replace(passage, promise=passage.promise * _OTHER_KIND) if aside else passage
            )
        return leaning

    def _related(self, primaries: Sequence[Item]) -> list[Item]:
        """Return what belongs to some items."""
        wanted = self.request
        if not HOPS[wanted.strategy] or not wanted.max_related_per_primary or self.context is None:
            return []
        mode = wanted.related_mode
        if mode is None:
            strong = max(self.context.intents[Intent.IDENTIFIER], self.context.intents[Intent.PATH])
            mode = RelatedMode.FOCUS if strong >= _CLEAR else RelatedMode.EXPLORE
        found = find_related(
            self.corpus,
            [(item.path, item.start_line, item.end_line) for item in primaries],
            set(self.context.query_terms.terms),
            hops=HOPS[wanted.strategy],
            mode=mode,
            per_primary=wanted.max_related_per_primary,
        )
        items = [self._related_item(primaries, item) for item in found]
        allowed = [
            item
            for item in items
            if self.filters.accepts_file(self.reading.record(item.path))
            and self._accepts(item.path, item.kind)
        ]
        return [item for item in allowed if wanted.include_docs or not languages.get(item.language).prose]

    def _related_item(self, primaries: Sequence[Item], found: RelatedChunk) -> Item:
        chunk = found.chunk
        record = self.reading.record(chunk.path)
        content = "".join(self.corpus.lines(chunk.path)[chunk.start_line - 1 : chunk.end_line])
        return Item(
            path=chunk.path,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            content=content,
            content_hash=ids.hash_text(content),
            file_hash=record.file_hash,
            ref=self.reading.ref(chunk.path),
            chunk_id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
            kind=chunk.kind.value,
            symbol=".".join(chunk.title_path),
            section=Section.TESTS if "test" in record.tags else Section.KEY_USAGES,
            score=round(min(1.0, found.worth) * primaries[found.primary].score / 2, 4),
            role=Role.RELATED,
            language=record.language,
            reasons=tuple(label.value for label in found.labels),
            imports=self.reading.imports(chunk.path, content),
            relationship=tuple(label.value for label in found.labels),
            distance=found.distance,
            redactions=sum(chunk.start_line <= line <= chunk.end_line for line in record.redactions),
        )

    def _guided(self, assembly: Assembly, filled: FilledPack) -> Pack:
        """Return the pack with as much guidance as fits, sealed."""
        gauge, pack = assembly.gauge, filled.pack
        left = gauge.left(filled.size)
        for hints, queries in self._guidance(pack, filled):
            wanted = {"hints": (*assembly.frame.hints, *hints), "next_queries": queries}
            if left.holds(assembly.cost(msgspec.structs.replace(assembly.frame, **wanted))):
                fuller = msgspec.structs.replace(pack, **wanted)
                size = gauge.size(fuller)
                if gauge.fits(size):
                    return assembly.seal(fuller, size)
        return assembly.seal(pack, filled.size)

    def _guidance(
        self, pack: Pack, filled: FilledPack
    ) -> Iterator[tuple[Sequence[str], Sequence[Suggestion]]]:
        """Yield hints and next queries, fewer and fewer of them; the first hint is the last to go."""
        queries = self._next(pack, filled.left_out.passages)
        for fetched in guidance.MOST_FETCHED:
            hints = (*self._nothing(pack), *guidance.hints(pack, filled.left_out, filled.size, fetched))
            for count in range(max(len(hints), len(queries)), 0, -1):
                yield hints[:count], queries[:count]
            yield hints[:1], ()

    def _next(self, pack: Pack, left_out: Sequence[Passage]) -> tuple[Suggestion, ...]:
        """Return searches that this index answers: names that items use and that are defined elsewhere, first
        those whose definitions promise most, then the most used."""
        if not pack.counts.candidates:
            proposed = (*self._instead(), *suggest(self.corpus, self.query, self.filters))
            return tuple({item.query: item for item in reversed(proposed)}.values())[::-1]
        lines = {
            (item.path, line) for item in pack.items for line in range(item.start_line, item.end_line + 1)
        }
        spans = [(item.path, item.start_line, item.end_line) for item in pack.items]
        found = [
            item
            for item in external_names(self.corpus, spans, some=True)
            if (item.path, item.line) not in lines and item.name != self.query
        ]
        promises = {item: _promise_at(left_out, item.path, item.line) for item in found}
        found.sort(key=lambda item: -promises[item])
        return tuple(map(_suggestion, found[:_MOST_QUERIES]))

    def _about(
        self, shown: Sequence[Item] | Sequence[Passage], *, some: bool = False
    ) -> tuple[Suggestion, ...]:
        """Return names that items use, and where they are defined; with `some` as if not all were shown."""
        spans = [(item.path, item.start_line, item.end_line) for item in shown]
        return tuple(
            _suggestion(item)
            for item in external_names(self.corpus, spans, some=some)
            if item.name != self.query
        )

    def _absent(self) -> list[str]:
        """Return what the query names and this repository does not have, or has elsewhere."""
        absent = [
            f"{item.text!r} is not in this repository"
            + (f"; nearest: {', '.join(item.nearest)}" if item.nearest else "")
            for item in self.anchors
            if not item.hits
        ]
        moved = [
            f"{item.text!r} is not at that path here; files of its name: {', '.join(item.elsewhere)}"
            for item in self.anchors
            if item.elsewhere
        ]
        unmade = [
            f"{item.text!r} is no file here; nearest: {', '.join(item.nearest)}"
            for item in self.anchors
            if item.as_text and item.nearest
        ]
        return absent + moved + unmade

    def _nothing(self, pack: Pack) -> list[str]:
        if pack.counts.candidates or self._absent():
            return []
        filters = self.filters.active()
        return [f"nothing in this index matches{' with the filter ' if filters else ''}{', '.join(filters)}"]

    def _instead(self) -> list[Suggestion]:
        return [Suggestion(near, f"nearest to {item.text}") for item in self.anchors for near in item.nearest]
