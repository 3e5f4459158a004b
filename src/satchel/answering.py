"""One question → one pack: the straight line over retrieval and packing.

question → candidates → ranked files → passages → sections → selection → items → guidance. What is counted is
the text that the caller receives, last of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from satchel import ids, languages
from satchel.packing import guidance
from satchel.packing.assembly import Assembly, FilledPack
from satchel.packing.budget import Gauge, make_within
from satchel.packing.items import PackPlan
from satchel.packing.pack import Counts, Item, Pack, Role, Section, Trust
from satchel.packing.preferences import Preferences
from satchel.packing.sections import PackMode
from satchel.retrieval import candidates, ranker
from satchel.retrieval.anchors import find_anchors, is_only_anchor
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import external_names, import_statements, needed_imports
from satchel.retrieval.filters import Filters
from satchel.retrieval.hit_lines import best_lines, term_worths
from satchel.retrieval.intent import Intent
from satchel.retrieval.passages import PASSAGES, score_passages, split_by_chunk
from satchel.retrieval.query import parse_query
from satchel.retrieval.related import RelatedChunk, find_related
from satchel.retrieval.search import check, gather_evidence
from satchel.retrieval.suggest import suggest
from satchel.settings import QUALITY
from satchel.storage.records import FileRecord
from satchel.tokenizers.tokenizer import CharsPerToken, characters_of
from satchel.types import Passage, RelatedMode, Strategy, Suggestion

FILES = 25  # that pieces are taken from
_ALL = 1_000_000  # pieces: which are of a kind is known only when they are cut
_LEAST_MAPPED, _MOST_MAPPED = 10, 40  # files that are at least named
_CHARS_PER_MAPPED = 1_200  # one more for so much more room
_CHARS_PER_MAPPED_REPORT = 2_700  # a report says more of what it means, so fewer files may be meant
_CHARS_PER_NAME = 600  # however little room there is: the map is to take a fifth of it at most
_MOST_QUERIES = 3  # that are proposed
_CLEAR = 0.7  # how sure it must be what a question asks for before that decides
_OTHER_KIND = 0.6  # what a document is worth where code is preferred, and the other way round
_MOST_IMPORTS = 8  # that an item carries


HOPS = {Strategy.DIRECT: 0, Strategy.EXTENDED: 1, Strategy.DEEP: 2}


class CorpusReading:
    """Where the text of items comes from: the index."""

    def __init__(self, corpus: Corpus, rarity: Mapping[str, float] | None = None) -> None:
        self.corpus = corpus
        self.rarity = rarity or {}

    def lines(self, path: str) -> Sequence[str]:
        return self.corpus.lines(path)

    def record(self, path: str) -> FileRecord:
        return self.corpus.files[self.corpus.position_of[path]]

    def best_lines(self, passage: Passage, chars: int) -> tuple[int, int]:
        """The lines of a passage that hold most of the question."""
        lines = self.corpus.lines(passage.path)
        return best_lines(self.rarity, passage.start_line, passage.end_line, lines, chars)

    def imports(self, path: str, content: str) -> tuple[str, ...]:
        """The import statements of the file that bring in a name which the content uses."""
        statements = self.corpus.import_statements(
            path, lambda: import_statements(self.corpus.references(path), self.corpus.lines(path))
        )
        return tuple(needed_imports(statements, content)[:_MOST_IMPORTS])


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


class Question:
    """A question of one generation of an index, and the packs that answer it."""

    def __init__(
        self,
        corpus: Corpus,
        query: str,
        filters: Filters,
        *,
        ref: str,
        notes: Sequence[str] = (),
        profile: str = QUALITY,
        model_id: str = "",
        weights: Mapping[str, float] | None = None,
    ) -> None:
        check(query, 1)
        query = characters_of(query)  # no JSON holds a lone surrogate
        self.corpus = corpus
        self.query = query
        self.filters = filters
        self.ref = ref
        self.notes = notes
        self.profile = profile
        self.model_id = model_id
        self.weights = {**ranker.weights(PASSAGES), **(weights or ranker.weights(profile))}
        count = len(corpus.files) if filters.by_kind else candidates.CANDIDATES
        self.context = gather_evidence(corpus, query, filters, count, profile)
        self.asked = self.context.query if self.context else parse_query(query)
        self.anchors = find_anchors(corpus, self.asked)
        rarity = term_worths(self.context.evidence) if self.context else {}
        self.reading = CorpusReading(corpus, rarity)

    def sectioned(
        self, gauge: Gauge, *, mode: PackMode, caps: Mapping[Section, int], max_candidates: int
    ) -> Pack:
        """The pack of `build_context_pack`: six sections, each piece in one of them."""
        return make_within(gauge, lambda gauge: self._sectioned(gauge, mode, caps, max_candidates))

    def _sectioned(
        self, gauge: Gauge, mode: PackMode, caps: Mapping[Section, int], max_candidates: int
    ) -> Pack:
        room = gauge.room()
        chars = min(filter(None, (room.tokens * CharsPerToken.USUAL, room.chars)), default=0)
        is_report = self.context is not None and not self.context.query_terms.all_title
        per_file = _CHARS_PER_MAPPED_REPORT if is_report else _CHARS_PER_MAPPED
        mapped = min(_MOST_MAPPED, _LEAST_MAPPED + chars // per_file, chars // _CHARS_PER_NAME)
        plan = PackPlan(caps, map_files=mapped)
        found = [] if self.is_elsewhere else self.passages(max_candidates, max(FILES, plan.map_files))
        assembly = Assembly(self._frame(gauge, mode.value), gauge, self.reading, plan)
        return self._guided(assembly, assembly.fill(found, lambda: self._about(found, some=True)))

    def flat(self, gauge: Gauge, wanted: Preferences) -> Pack:
        """The pack of `context_pack`: primary pieces by rank, then what belongs to them."""
        found: list[Passage] = []
        if not (wanted.anchors and self.is_elsewhere):
            found = self._leaning(self.passages(candidates.CANDIDATES), wanted)
        by_name = is_only_anchor(self.asked)
        if by_name:
            found = self._of_kind(self._by_chunk(found))
        caps = dict.fromkeys(Section, len(found) + 1)
        plan = PackPlan(caps, limit=wanted.limit, with_imports=True, flat=True, apart=by_name)
        return make_within(gauge, lambda gauge: self._flat(gauge, wanted, plan, found))

    def _flat(self, gauge: Gauge, wanted: Preferences, plan: PackPlan, found: Sequence[Passage]) -> Pack:
        assembly = Assembly(self._frame(gauge, ""), gauge, self.reading, plan)
        filled = assembly.fill(found, lambda: self._about(found, some=True))
        return self._guided(assembly, assembly.add(filled, self._related(filled.pack, wanted)))

    def passages(self, count: int, files: int = FILES) -> list[Passage]:
        """The pieces that may answer."""
        if self.context is None:
            return []
        signals = ranker.signals(self.context)
        if not self.filters.by_kind:
            return score_passages(self.context, signals, self.weights, files=files, count=count)
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
        """Whether the question is nothing but the name of something that this repository does not have."""
        return (
            bool(self.anchors)
            and not any(item.hits or item.akin for item in self.anchors)
            and is_only_anchor(self.asked)
        )

    def _frame(self, gauge: Gauge, mode: str) -> Pack:
        """The pack without items. What must be said is in it from the start, so that there is room for it."""
        return Pack(
            query=self.query,
            ref=self.ref,
            mode=mode,
            model_id=self.model_id,
            profile=self.profile,
            items=(),
            budget=gauge.budget(),
            counts=Counts(),
            trust=self._trust(),
            hints=(*self._absent(), *self.notes),
        )

    def _trust(self) -> Trust:
        first = next((item for item in self.anchors if not item.hits), None) or next(iter(self.anchors), None)
        return Trust(
            retrieval_mode="hybrid" if self.profile == QUALITY else "lexical",
            fallback_used=False,
            anchor_detected=first is not None,
            anchor_hits=sum(item.hits for item in self.anchors),
            anchor_not_found=first is not None and not first.hits,
            anchor_kind=first.kind.value if first else "",
            anchor_primary=first.text if first else "",
        )

    def _leaning(self, found: Sequence[Passage], wanted: Preferences) -> list[Passage]:
        """Documents or code first, as a bounded boost."""
        intents = self.context.intents if self.context else {}
        prefer_code = wanted.prefer_code
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
            if prose and not wanted.include_docs:
                continue
            aside = prefer_code is not None and prose == prefer_code
            leaning.append(
                msgspec.structs.replace(passage, promise=passage.promise * _OTHER_KIND) if aside else passage
            )
        return leaning

    def _related(self, pack: Pack, wanted: Preferences) -> list[Item]:
        """What belongs to the items of a pack."""
        if not HOPS[wanted.strategy] or not wanted.max_related_per_primary or self.context is None:
            return []
        mode = wanted.related_mode
        if mode is None:
            strong = max(self.context.intents[Intent.IDENTIFIER], self.context.intents[Intent.PATH])
            mode = RelatedMode.FOCUS if strong >= _CLEAR else RelatedMode.EXPLORE
        found = find_related(
            self.corpus,
            [(item.path, item.start_line, item.end_line) for item in pack.items],
            set(self.context.query_terms.terms),
            hops=HOPS[wanted.strategy],
            mode=mode,
            per_primary=wanted.max_related_per_primary,
        )
        items = [self._related_item(pack, item) for item in found]
        allowed = [
            item
            for item in items
            if self.filters.accepts_file(self.reading.record(item.path))
            and self._accepts(item.path, item.kind)
        ]
        return [item for item in allowed if wanted.include_docs or not languages.get(item.language).prose]

    def _related_item(self, pack: Pack, found: RelatedChunk) -> Item:
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
            ref=self.ref,
            chunk_id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
            kind=chunk.kind.value,
            symbol=".".join(chunk.title_path),
            section=Section.TESTS if "test" in record.tags else Section.KEY_USAGES,
            score=round(min(1.0, found.worth) * pack.items[found.primary].score / 2, 4),
            role=Role.RELATED,
            language=record.language,
            reasons=tuple(label.value for label in found.labels),
            imports=self.reading.imports(chunk.path, content),
            relationship=tuple(label.value for label in found.labels),
            distance=found.distance,
            redactions=sum(chunk.start_line <= line <= chunk.end_line for line in record.redactions),
        )

    def _guided(self, assembly: Assembly, filled: FilledPack) -> Pack:
        """The pack with as much guidance as fits, sealed."""
        gauge, pack = assembly.gauge, filled.pack
        said = assembly.frame.hints
        hints = (*self._nothing(pack), *guidance.hints(pack, filled.left_out, filled.size))
        queries = self._next(pack)
        left = gauge.left(filled.size)
        for count in range(max(len(hints), len(queries)), 0, -1):
            wanted = {"hints": (*said, *hints[:count]), "next_queries": queries[:count]}
            if left.holds(assembly.cost(msgspec.structs.replace(assembly.frame, **wanted))):
                fuller = msgspec.structs.replace(pack, **wanted)
                size = gauge.size(fuller)
                if gauge.fits(size):
                    return assembly.seal(fuller, size)
        return assembly.seal(pack, filled.size)

    def _next(self, pack: Pack) -> tuple[Suggestion, ...]:
        """Searches that this index answers."""
        if not pack.counts.candidates:
            proposed = (*self._instead(), *suggest(self.corpus, self.query, self.filters))
            return tuple({item.query: item for item in reversed(proposed)}.values())[::-1]
        return self._about(pack.items)[:_MOST_QUERIES]

    def _about(
        self, pieces: Sequence[Item] | Sequence[Passage], *, some: bool = False
    ) -> tuple[Suggestion, ...]:
        """Names that pieces use, and where they are defined; with `some` as if not all of them were shown."""
        spans = [(piece.path, piece.start_line, piece.end_line) for piece in pieces]
        return tuple(
            Suggestion(item.name, f"used here {_times(item.uses)}, defined at {item.path}:{item.line}")
            for item in external_names(self.corpus, spans, some=some)
            if item.name != self.query
        )

    def _absent(self) -> list[str]:
        """What the question names and this repository does not have, or has elsewhere."""
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
        return absent + moved

    def _nothing(self, pack: Pack) -> list[str]:
        if pack.counts.candidates or self._absent():
            return []
        filters = self.filters.active()
        return [f"nothing in this index matches{' with the filter ' if filters else ''}{', '.join(filters)}"]

    def _instead(self) -> list[Suggestion]:
        return [Suggestion(near, f"nearest to {item.text}") for item in self.anchors for near in item.nearest]
