"""How do the stages fit together? The engine composes them: file → chunks → index → hits → pack.

It is one class, and a long one, because it is what callers of Python see: a short method for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from satchel import languages, settings
from satchel._version import __version__
from satchel.code_facts import Target
from satchel.embedding import LEXICAL, model_id
from satchel.errors import ChunkNotFound, IndexProblem, InvalidBudget
from satchel.lines import split_lines
from satchel.plugins import late
from satchel.retrieval.filters import Filters
from satchel.segment import Segment
from satchel.storage.records import ChunkRecord, FileRecord, SymbolRecord
from satchel.types import (
    Chunk,
    FileEntry,
    Hit,
    Label,
    ResolvedReference,
    Skipped,
    SkipReason,
    Source,
    Suggestion,
)

if TYPE_CHECKING:
    from satchel import corpus_reading, onboarding, pack_pipeline, pack_request, reviewing
    from satchel import recall as recalling
    from satchel.pack_request import PackRequest
    from satchel.packing import layers, repository_map
    from satchel.packing import pack as packs
    from satchel.packing.budget import Gauge
    from satchel.packing.pack import Pack
    from satchel.retrieval import (
        centrality,
        code_symbols,
        file_figures,
        locators,
        lookup,
        overrides,
        references,
        suggest,
        text_matches,
    )
    from satchel.retrieval import corpus as corpora
    from satchel.retrieval import impact as impacts
    from satchel.retrieval import search as ranking
    from satchel.retrieval.file_cache import FileCache
    from satchel.retrieval.text_pattern import TextPattern
    from satchel.tokenizers import Tokenizer
    from satchel.verifying import validation
    from satchel.walking import change_set, git_trees, source_reader
else:  # what some commands do without
    corpus_reading = late("satchel.corpus_reading")
    pack_pipeline, pack_request = late("satchel.pack_pipeline"), late("satchel.pack_request")
    reviewing, onboarding = late("satchel.reviewing"), late("satchel.onboarding")
    recalling = late("satchel.recall")
    layers, packs, repository_map = (
        late(f"satchel.packing.{name}") for name in ("layers", "pack", "repository_map")
    )
    validation = late("satchel.verifying.validation")
    corpora, locators, lookup, references, suggest, ranking = (
        late(f"satchel.retrieval.{name}")
        for name in ("corpus", "locators", "lookup", "references", "suggest", "search")
    )
    impacts, centrality = late("satchel.retrieval.impact"), late("satchel.retrieval.centrality")
    code_symbols, overrides = late("satchel.retrieval.code_symbols"), late("satchel.retrieval.overrides")
    file_figures = late("satchel.retrieval.file_figures")
    text_matches = late("satchel.retrieval.text_matches")
    git_trees, change_set, source_reader = (
        late(f"satchel.walking.{name}") for name in ("git_trees", "change_set", "source_reader")
    )


_CHANGE_TITLES = {"": "changes in the work tree", "--staged": "staged changes"}


class Engine(Segment):
    """One segment, asked by one caller.

    engine = Engine.open("path/to/repository")
    engine.refresh()
    hits, suggestions = engine.search("where are sessions stored", k=5)
    """

    is_one_folder = True  # a library is many
    _corpus: corpora.Corpus | None = None  # of the last generation that was asked
    _read: FileCache | None = None  # of the files of that generation

    @property
    def name(self) -> str:
        """Return what an answer calls this segment."""
        return self.root.name

    @property
    def location(self) -> str:
        """Return where an answer says that the files are."""
        return str(self.root)

    def corpus(self) -> corpora.Corpus:
        """Return the last complete generation as arrays."""
        snapshot = self.snapshot()  # a newer one forgets the arrays of the one before
        if self._corpus is None:
            self._corpus = corpora.Corpus(snapshot, self._read, self._spread())
            self._read = None  # taken over
        return self._corpus

    def _spread(self) -> corpora.TermLookup | None:
        """Return what looks up the terms of a query elsewhere; None to look them up here."""
        return None

    def search(
        self,
        query: str,
        k: int = 10,
        filters: Filters | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        whole_chunks: bool = False,
        explain: bool = False,
    ) -> tuple[list[Hit], list[Suggestion]]:
        """Return the best k hits, and when there are none searches that find something. Of a long chunk the
        fitting lines are given, unless `whole_chunks` are asked for. `weights` stand in for those of the
        profile."""
        corpus = self.corpus()
        chosen = filters or Filters()
        profile = self._profile(corpus)
        options = ranking.SearchOptions(profile, weights, whole_chunks, explain)
        hits = ranking.search(corpus, query, k, chosen, options)
        return hits, ([] if hits else suggest.suggest(corpus, query, chosen))

    def find_text(
        self, pattern: TextPattern, filters: Filters, room: int, seconds: float
    ) -> text_matches.TextMatches:
        """Return where a pattern matches: all matches as counts, and as many groups as `room` tokens can
        show. A scan that takes longer than `seconds` says how many files it has not read."""
        return text_matches.find_text(self.corpus(), pattern, filters, room, self.token.limited_to(seconds))

    def pack(self, query: str, *, render: Callable[[Pack], str] | None = None, **fields: Any) -> Pack:
        """Return the pack that answers a query; `fields` are those of PackRequest.

        The budget counts the text that `render` makes of the pack: without one its citations and lines, with
        `render=pack_format("markdown").render` what that format writes.
        """
        return self.make_pack(pack_request.PackRequest.of({**fields, "query": query}), render)

    def review(self, change: str = "", *, render: Callable[[Pack], str] | None = None, **fields: Any) -> Pack:
        """Return the pack for reviewing a change: `A..B`, `A...B`, `A` (up to the work tree), `--staged`, or
        nothing for what differs from HEAD. `fields` are those of PackRequest."""
        return self.make_pack(pack_request.PackRequest.of({**fields, "change": change}), render)

    def make_pack(self, request: PackRequest, render: Callable[[Pack], str] | None = None) -> Pack:
        """Return the pack that a request asks for. `render` writes the text that its budget counts."""
        try:
            gauge = request.gauge(render or packs.plain_text)
            if request.change is not None:
                pack = self._review(request.change, request, gauge)
            else:
                pack = self.pipeline(request).pack(gauge)
        except InvalidBudget as error:
            raise request.explained(error) from None
        request.check_budget()
        return pack

    def recall(
        self, prompt: str, budget: int, tokenizer: Tokenizer, render: Callable[[Pack], str]
    ) -> recalling.Recall:
        """Return the pack of a prompt if it is about the code and the answer is sure. A file that is not as
        it was indexed is left out, so that the citations hold although the index may be stale."""
        made = recalling.PromptRecall(self.pipeline, self.changed_files, render, tokenizer, budget)
        with self.pinned():
            return made.of(prompt)

    def pipeline(self, request: PackRequest) -> pack_pipeline.PackPipeline:
        """Return what makes the pack of a request from the newest generation of the index."""
        with self.pinned():
            notes = self.notes if self._tree.content_id else ()  # those of a work tree are told aside
            origin = corpus_reading.PackOrigin(self.ref, self.profile, self.model_id, notes, self.ref_of)
            return pack_pipeline.PackPipeline(self.corpus(), request, origin)

    def ref_of(self, path: str) -> str:
        """Return the ref that a citation of a path states."""
        return self.ref

    def repository_ref(self, path: str) -> str:
        """Return the repository of a path with its commit, `NAME@COMMIT`; empty where there is one
        repository."""
        return ""

    def _review(self, change: str, request: PackRequest, gauge: Gauge) -> Pack:
        found = change_set.read_changes(self.root, change, self.options.walk)
        with self._side(found.new) as new, new.pinned():
            review = reviewing.Review(
                found, new.corpus(), self._reader_at(found.old), request.filters, request.query
            )
            title = request.query or _CHANGE_TITLES.get(change, change)
            return review.pack(gauge, title, new.model_id, new.profile)

    @contextmanager
    def _side(self, ref: str) -> Iterator[Engine]:
        """Give the engine of one side of a change."""
        if ref == self.ref:
            yield self
            return
        with self.staged() if ref == git_trees.STAGED else self.at(ref) as other:
            yield other

    def _reader_at(self, commit: str) -> Callable[[str], Source | Skipped]:
        """Return a reader of the files of a commit that needs no index and leaves out what an index would."""
        if not commit:
            return lambda path: Skipped(path, SkipReason.UNREADABLE, "there is no commit yet")
        tree = git_trees.GitTree(self.root, commit, self.options.walk)
        reader = source_reader.SourceReader(tree, self.options.walk)
        left_out: dict[str, Skipped] = {}
        walked: set[str] = set()

        def read(path: str) -> Source | Skipped:
            if not walked and not left_out:
                walk = tree.entries()
                walked.update(entry.path for entry in walk.files)
                left_out.update((item.path, item) for item in walk.skipped)
            if path not in walked:  # a sensitive file, above all: what was secret stays so when it is deleted
                return left_out.get(path, Skipped(path, SkipReason.HIDDEN, "ignored"))
            ((_, source),) = reader([FileEntry(path, 0, 0)])
            return source

        return read

    @property
    def profile(self) -> str:
        """Return the name of the profile that hits are ranked by, or will be once there is an index."""
        try:
            return self._profile(self.corpus())
        except IndexProblem:
            return self.options.profile

    @property
    def model_id(self) -> str:
        """Return the id of the model that hits are ranked with."""
        return LEXICAL if self.profile == settings.FAST else model_id()

    def _profile(self, corpus: corpora.Corpus) -> str:
        """Return the profile that was asked for, or `fast` where the index holds no vectors."""
        return self.options.profile if corpus.has_vectors else settings.FAST

    def find(self, ids: Iterable[str]) -> list[lookup.LookupResult]:
        """Return what each id names, or what became of it."""
        snapshot = self.snapshot()
        return [lookup.find(snapshot, asked) for asked in ids]

    def get(self, chunk_id: str) -> Chunk:
        """Return the chunk that an id (in any spelling) or a locator names, or what it has become."""
        with self.pinned():
            found = self.find([chunk_id])[0]
            if found.chunk is None:
                raise ChunkNotFound(
                    f"{chunk_id!r} names no chunk: {found.detail}", hint="take an id from a search"
                )
            record = found.chunk
            return Chunk(
                record.kind,
                record.title_path,
                record.start_line,
                record.end_line,
                self.text_of(record),
                record.level,
                record.body_offset,
            )

    def text_of(self, chunk: ChunkRecord) -> str:
        """Return the exact lines of a chunk."""
        lines = split_lines(self.snapshot().text(chunk.path))
        return "".join(lines[chunk.start_line - 1 : chunk.end_line])

    def symbols(self, name: str) -> list[SymbolRecord]:
        """Return the symbols of a file, of a name (`Class.method` narrows), or of the start of a name."""
        snapshot = self.snapshot()
        if path := self.known_path(name):
            return [SymbolRecord(path, symbol) for symbol in snapshot.symbols(path)]
        last = name.replace("::", ".").rpartition(".")[2]
        found = snapshot.symbols_named(name)  # a dot may belong to the name: `.button`, `docs.zip`
        if not found and last != name:
            found = snapshot.symbols_named(last)
            wanted = name.replace("::", ".").lower()
            found = [
                item for item in found if ("." + item.symbol.qualified_name.lower()).endswith("." + wanted)
            ]
        return found

    def all_symbols(self, limit: int, start: int = 0) -> tuple[list[SymbolRecord], int]:
        """Return the first symbols of the segment, by path and line, and how many there are."""
        snapshot = self.snapshot()
        total = snapshot.symbol_count()
        # A caller may ask for more than the 64 bits that a slice takes.
        shown = islice(snapshot.all_symbols(), min(start, total), min(start + limit, total))
        return list(shown), total

    def known_path(self, written: str) -> str:
        """Return the indexed file that a path means, also with `./` or back-slashes; empty if none."""
        snapshot = self.snapshot()
        paths = (written, locators.plain_path(written))
        return next((path for path in paths if snapshot.file(path) is not None), "")

    def near_symbols(self, name: str, limit: int = 5) -> list[str]:
        """Return names in this index that are spelled like `name`, the most similar first."""
        return suggest.near_names(self.corpus(), name.rpartition(".")[2] or name, limit)

    def references(
        self, name: str, labels: Sequence[Label] = (), *, possible: bool = False
    ) -> list[ResolvedReference]:
        """Return the places that call, import, extend or otherwise use a name, or that import or link to a
        file. With `possible`, also those that share the name and that no rule decided."""
        corpus = self.corpus()
        if path := self.known_path(name):
            return references.find_file_references(corpus, path, labels)
        return references.find_references(corpus, name, labels, possible=possible)

    def uses_made(self, name: str, labels: Sequence[Label] = ()) -> list[ResolvedReference]:
        """Return the sure uses inside the definitions of a name: what they call, use or extend."""
        return references.find_uses_made(self.corpus(), name, labels)

    def language_without_rules(self, path: str) -> str:
        """Return the language of a file if uses of what it defines are matched by name alone; empty if rules
        resolve them."""
        corpus = self.corpus()
        return "" if corpus.has_graph(path) else corpus.files[corpus.position_of[path]].language

    def enclosing(self, path: str, line: int) -> str:
        """Return the qualified name of the innermost definition around a line; empty outside of all."""
        found = code_symbols.enclosing(self.corpus(), path, line)
        return found.qualified_name if found is not None else ""

    def definitions_meant(self, name: str) -> list[Target]:
        """Return the definitions that a name means; a file stands for all that it defines and for itself."""
        corpus = self.corpus()
        if path := self.known_path(name):
            return [Target(path), *code_symbols.definitions_in(corpus, path)]
        return references.definition_targets(corpus, name)

    def overridden(self, name: str) -> list[SymbolRecord]:
        """Return the members of base types that the definitions of a name override: who calls these may run
        the definitions."""
        return self._namesakes(name, overrides.overridden)

    def overriding(self, name: str) -> list[SymbolRecord]:
        """Return the members of derived types that override the definitions of a name."""
        return self._namesakes(name, overrides.overriding)

    def _namesakes(
        self, name: str, walk: Callable[[corpora.Corpus, Target], list[Target]]
    ) -> list[SymbolRecord]:
        corpus = self.corpus()
        own = self.definitions_meant(name)
        found = dict.fromkeys(other for target in own for other in walk(corpus, target) if other not in own)
        return [
            SymbolRecord(target.path, symbol)
            for target in found
            for symbol in code_symbols.code_symbols(corpus, target.path)
            if symbol.qualified_name == target.name
        ]

    @contextmanager
    def changed_side(self, change: str) -> Iterator[tuple[Engine, list[Target]]]:
        """Give the engine of the new side of a change, and the definitions there whose lines it touches."""
        found = change_set.read_changes(self.root, change, self.options.walk)
        with self._side(found.new) as new, new.pinned():
            corpus = new.corpus()
            touched = [
                target
                for file in found.files
                if new.known_path(file.path)
                for first, last in (hunk.new_range for hunk in file.hunks)
                for target in code_symbols.definitions_in(corpus, file.path, first, last)
            ]
            yield new, list(dict.fromkeys(touched))

    def dependants(self, targets: Sequence[Target], depth: int, limit: int) -> list[impacts.Dependant]:
        """Return what uses some definitions, directly or through others, nearest first."""
        return impacts.find_dependants(self.corpus(), targets, depth, limit)

    def path_between(self, start: Target, end: Target) -> list[impacts.Step]:
        """Return the shortest chain of uses between two definitions, in either direction."""
        return impacts.find_path(self.corpus(), start, end)

    def central_symbols(self, focus: str = "", path_prefix: str = "") -> repository_map.Ranking:
        """Return the symbols that other files refer to, most central first. A focus is a path, a folder, a
        name or a question."""
        corpus = self.corpus()
        ranked = centrality.central_symbols(corpus, focus=self._focus(focus), path_prefix=path_prefix)
        return repository_map.Ranking(
            repository_map.map_symbol(item.record.path, item.record.symbol, item.files) for item in ranked
        )

    def files(
        self, path_prefix: str = "", depth: int = 0, *, with_uses: bool = True
    ) -> list[file_figures.FileFigures]:
        """Return the indexed files below a folder, by path; with a depth, what lies deeper by folder. How
        many files use each is 0 if that is not asked for, which saves a read of the whole code graph."""
        return file_figures.list_files(self.corpus(), path_prefix, depth, with_uses=with_uses)

    def _focus(self, focus: str) -> list[str]:
        """Return the files that a focus means."""
        if not focus.strip():
            return []
        if path := self.known_path(focus):
            return [path]
        folder = locators.plain_path(focus).rstrip("/") + "/"
        inside = [record.path for record in self.corpus().files if record.path.startswith(folder)]
        defining = [target.path for target in self.definitions_meant(focus)]
        return inside or defining or [hit.path for hit in self.search(focus)[0]]

    def map(
        self, budget: int, tokenizer: Tokenizer, ranked: Iterable[repository_map.MapSymbol] | None = None
    ) -> list[repository_map.MapSymbol]:
        """Return the most central symbols whose text fits the budget."""
        return repository_map.fit(
            self.central_symbols() if ranked is None else ranked, budget, tokenizer.count
        )

    def onboarding_page(self, budget: int, count: Callable[[str], int]) -> onboarding.FirstPage:
        """Return the first page for a newcomer: as many of its lines as `budget` tokens hold."""
        reader = onboarding.RepositoryReader(self.corpus(), self.read)
        return onboarding.onboarding_page(reader, self.central_symbols(), budget, count)

    def pack_layers(self, *, documents_only: bool = True, segment: str = "") -> layers.LayeredPack:
        """Return the three-layer pack of the index."""
        snapshot = self.snapshot()
        files = [record for record in snapshot.files() if not documents_only or is_document(record)]
        return layers.build_pack(
            snapshot,
            files,
            segment=segment or self.name,
            created_at=datetime.now(UTC),
            generator_version=__version__,
        )

    def validate(self, pack: layers.LayeredPack) -> list[validation.Problem]:
        """Return what of a three-layer pack no longer holds in the tree of now."""
        return validation.validate(pack, self.read)

    def _take_over(self, before: Self) -> None:
        super()._take_over(before)
        self._corpus, self._read = before._corpus, before._read

    def _forget(self) -> None:
        """Drop the arrays of a generation, and keep what was read of files for the next one."""
        super()._forget()
        if self._corpus is not None:
            self._read, self._corpus = self._corpus.file_cache, None


def is_document(record: FileRecord) -> bool:
    """Return whether a file belongs to the default pack."""
    return languages.get(record.language).prose
