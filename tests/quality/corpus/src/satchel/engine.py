"""The straight line: file → chunks → index → hits → pack. Composes the stages, decides nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from satchel import languages, settings
from satchel._version import __version__
from satchel.embedding.model import LEXICAL, model_id
from satchel.errors import (
    ChunkNotFound,
    IndexCorrupt,
    IndexIncompatible,
    IndexProblem,
    PathNotAllowed,
    ProjectNotFound,
)
from satchel.indexing.freshness import IndexState, compare, decode_watermark, encode_watermark
from satchel.indexing.plan import Refresh, signature
from satchel.indexing.upkeep import notes_if_fresh
from satchel.lines import split_lines
from satchel.plugins import late
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import search
from satchel.settings import Options
from satchel.storage.protocol import Snapshot, Store
from satchel.storage.records import ChunkRecord, FileRecord, SymbolRecord
from satchel.storage.sqlite import SqliteStore, make_folder
from satchel.terms import compound
from satchel.types import Chunk, FileEntry, Hit, Label, ResolvedReference, Skipped, Source, Suggestion
from satchel.walking.walker import Tree, WorkTree, in_repository

if TYPE_CHECKING:
    from satchel import chunking
    from satchel.embedding import table
    from satchel.indexing import analyse, refresh, workers
    from satchel.packing import layers, overview, validation
    from satchel.retrieval import lookup, references, suggest
    from satchel.tokenizers.tokenizer import Tokenizer
    from satchel.walking import source_reader, watermark
else:  # what a search of a fresh index does without
    chunking, table = late("satchel.chunking"), late("satchel.embedding.table")
    analyse, refresh, workers = (
        late(f"satchel.indexing.{name}") for name in ("analyse", "refresh", "workers")
    )
    layers, overview, validation = (
        late(f"satchel.packing.{name}") for name in ("layers", "overview", "validation")
    )
    lookup, references, suggest = (
        late(f"satchel.retrieval.{name}") for name in ("lookup", "references", "suggest")
    )
    source_reader, watermark = (late(f"satchel.walking.{name}") for name in ("source_reader", "watermark"))


RULE_FILES = frozenset({".gitignore", ".ignore", ".satchelignore", settings.PROJECT_FILE})
_NOTHING = "no file of this folder is indexed: there is none, or ignore rules leave everything out"


class Engine:
    """One segment: a root folder, its index, and the questions asked of it.

    >>> engine = Engine.open("path/to/repository")
    >>> engine.refresh()
    >>> hits, _ = engine.search("where are sessions stored", k=5)
    """

    def __init__(self, root: Path, store: Store, options: Options, tree: Tree | None = None) -> None:
        self.root = root
        self.store = store
        self.options = options
        self.notes: tuple[str, ...] = ()
        self.progress: refresh.Progress | None = None  # who hears of long work
        self._tree = tree or WorkTree(root, options.walk)
        self._snapshot: Snapshot | None = None
        self._corpus: Corpus | None = None

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] = ".",
        *,
        index_dir: str | os.PathLike[str] | None = None,
        store: Store | None = None,
        workers: int = 0,
        profile: str = "",
    ) -> Self:
        """The engine of a folder. Nothing is read or written before the first call."""
        path = Path(root)
        if not path.is_dir():
            raise ProjectNotFound(
                f"{os.fspath(root)!r} is not a folder", hint="give the root of a repository or any folder"
            )
        path = path.resolve()
        options = settings.load(
            path, index_dir=Path(index_dir) if index_dir else None, workers=workers, profile=profile
        )
        if options.index_dir is not None:
            options = settings.leave_out(options, path, options.index_dir)
        return cls(path, store or SqliteStore(settings.index_path(path, options)), options)

    def ensure_fresh(self) -> None:
        """Refresh if anything changed. A look or one walk tells; in the usual case no index is written."""
        notes = None
        with suppress(IndexProblem):  # missing or unusable: refresh builds it and says so
            wanted = signature(self.options.walk, model_id())
            notes = notes_if_fresh(self._tree, self.snapshot(), wanted, self._memory())
        if notes is None:
            self.refresh()
        else:
            self.notes = notes

    def refresh(self, *, force: bool = False, paths: Sequence[str] | None = None) -> Refresh:
        """Bring the index up to date; with `paths`, look at these files alone, for a caller who knows what
        changed. An index that cannot be used is set aside and built anew."""
        if paths is not None and self.store.exists() and not self._takes_a_walk(paths):
            walk = self._tree.look(paths)
            meta = {"signature": signature(self.options.walk, model_id())}
        else:
            paths = None
            before = watermark.compute(self.root) if in_repository(self.root) else None
            walk = self._tree.entries()
            mark = encode_watermark(before or watermark.compute(self.root, self.options.walk, walk))
            meta = {
                "signature": signature(self.options.walk, model_id()),
                "watermark": mark,
                "root_path": str(self.root),
            }
        self.notes = walk.notes if walk.files or paths else (*walk.notes, _NOTHING)
        reader = source_reader.SourceReader(self._tree, self.options.walk)
        stages = analyse.Stages(reader, chunking.parse_source, chunking.prepare, table.load)
        count = self.options.workers or workers.default_workers()
        self._prepare_folder()
        try:
            return refresh.refresh(
                self.store,
                walk,
                stages,
                meta,
                paths=paths,
                workers=count,
                force=force,
                progress=self.progress,
            )
        except (IndexCorrupt, IndexIncompatible) as error:
            return self.rebuild(error)

    def rebuild(self, problem: IndexProblem) -> Refresh:
        """Set an unusable index aside and build a new one; the notes say so."""
        self._release()
        aside = self.store.set_aside()
        report = self.refresh()
        self.notes = (*self.notes, f"{problem.message}; it was set aside as {aside} and built anew")
        return report

    def _takes_a_walk(self, paths: Sequence[str]) -> bool:
        """Whether more than these files may have changed: a folder came or went, or a rule changed."""
        if any(path.rpartition("/")[2] in RULE_FILES or (self.root / path).is_dir() for path in paths):
            return True
        gone = [path for path in paths if not (self.root / path).exists() and not self.snapshot().file(path)]
        return bool(gone) and any(
            record.path.startswith(f"{path}/") for record in self.snapshot().files() for path in gone
        )

    def snapshot(self) -> Snapshot:
        """The last complete generation; the same object until a newer one is there."""
        latest = self.store.snapshot()
        if self._snapshot is not None and self._snapshot.version == latest.version:
            latest.close()
            return self._snapshot
        self._release()
        self._snapshot = latest
        return latest

    def corpus(self) -> Corpus:
        """The last complete generation as arrays."""
        snapshot = self.snapshot()
        if self._corpus is None:
            self._corpus = Corpus(snapshot)
        return self._corpus

    def search(
        self, query: str, k: int = 10, filters: Filters | None = None, *, explain: bool = False
    ) -> tuple[list[Hit], list[Suggestion]]:
        """The best k chunks; when there are none, real next searches instead."""
        corpus = self.corpus()
        chosen = filters or Filters()
        hits = search(corpus, query, k, chosen, profile=self.profile, explain=explain)
        return hits, ([] if hits else suggest.suggest(corpus, query, chosen))

    @property
    def profile(self) -> str:
        """How hits are ranked: as asked for, but never by vectors that the index does not hold."""
        return self.options.profile if self.corpus().file_vectors is not None else settings.FAST

    @property
    def model_id(self) -> str:
        """The model that answers are ranked with."""
        return LEXICAL if self.profile == settings.FAST else model_id()

    def find(self, ids: Iterable[str]) -> list[lookup.Found]:
        """What each id names, or what became of it."""
        snapshot = self.snapshot()
        return [lookup.find(snapshot, asked) for asked in ids]

    def get(self, chunk_id: str) -> Chunk:
        """The chunk that an id (in any spelling) or a locator names, or what it has become."""
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
        """The exact lines of a chunk."""
        lines = split_lines(self.snapshot().text(chunk.path))
        return "".join(lines[chunk.start_line - 1 : chunk.end_line])

    def symbols(self, name: str) -> list[SymbolRecord]:
        """The symbols of a file, or those of a name (`Class.method` narrows), or of a name's start."""
        snapshot = self.snapshot()
        if snapshot.file(name) is not None:
            return [SymbolRecord(name, symbol) for symbol in snapshot.symbols(name)]
        last = name.replace("::", ".").rpartition(".")[2]
        found = snapshot.symbols_named(name)  # a dot may belong to the name: `.button`, `docs.zip`
        if not found and last != name:
            found = snapshot.symbols_named(last)
            wanted = name.replace("::", ".").lower()
            found = [
                item for item in found if ("." + item.symbol.qualified_name.lower()).endswith("." + wanted)
            ]
        return found

    def near_symbols(self, name: str, limit: int = 5) -> list[str]:
        """Names in this index that start alike."""
        return self.snapshot().symbol_names(name[:3], limit)

    def references(self, name: str, labels: Sequence[Label] = ()) -> list[ResolvedReference]:
        """Who calls, imports, extends or otherwise uses a name; who imports or links to a file."""
        if self.snapshot().file(name) is not None:
            return references.find_file_references(self.corpus(), name, labels)
        return references.find_references(self.corpus(), name, labels)

    def map(self, budget: int, tokenizer: Tokenizer) -> list[overview.MapSymbol]:
        """The most-referenced symbols whose rendering fits the budget."""
        corpus = self.corpus()
        aside = {record.path for record in corpus.files if {"test", "example"}.intersection(record.tags)}
        ranked = overview.rank(
            corpus.snapshot.all_symbols(),
            lambda name: len(corpus.postings(compound(name))[0]),
            aside.__contains__,
        )
        return overview.fit(ranked, budget, tokenizer.count)

    def pack_layers(self, *, documents_only: bool = True, segment: str = "") -> layers.LayeredPack:
        """The three-layer pack of the index."""
        snapshot = self.snapshot()
        files = [record for record in snapshot.files() if not documents_only or is_document(record)]
        return layers.build_pack(
            snapshot,
            files,
            segment=segment or self.root.name,
            created_at=datetime.now(UTC),
            generator_version=__version__,
        )

    def validate(self, pack: layers.LayeredPack) -> list[validation.Problem]:
        """What of a three-layer pack no longer holds in the tree of now."""
        return validation.validate(pack, self.read)

    def read(self, path: str) -> Source | Skipped:
        """One file of the tree as it is now."""
        reader = source_reader.SourceReader(self._tree, self.options.walk)
        ((_, source),) = reader([FileEntry(path, 0, 0)])
        return source

    def state(self) -> IndexState:
        """How the index stands to the tree."""
        project = decode_watermark(encode_watermark(watermark.compute(self.root, self.options.walk)))
        assert project is not None
        if not self.store.exists():
            return IndexState.missing(project)
        try:
            with closing(self.store.snapshot()) as snapshot:
                kept = decode_watermark(snapshot.meta().get("watermark"))
                return IndexState(project, kept, True, snapshot.generation, compare(project, kept))
        except (IndexCorrupt, IndexIncompatible):
            return IndexState.corrupt(project)

    def close(self) -> None:
        """Release the index."""
        self._release()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _release(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
        self._snapshot = self._corpus = None

    def _memory(self) -> Path | None:
        """Where a walk is remembered: beside the index, unless a link there could lead out of the root."""
        if not isinstance(self.store, SqliteStore):
            return None
        folder = self.store.path.parent
        linked = folder == self.root / settings.INDEX_FOLDER and folder.is_symlink()
        return None if linked else self.store.path.with_suffix(".walk")

    def _prepare_folder(self) -> None:
        """A folder that we make keeps itself out of git."""
        if isinstance(self.store, SqliteStore):
            folder = self.store.path.parent
            if folder == self.root / settings.INDEX_FOLDER and folder.is_symlink():
                raise PathNotAllowed(f"{folder.name!r} is a link", hint="remove it, or use --index-dir DIR")
            ours = not folder.exists() or folder.name == settings.INDEX_FOLDER
            make_folder(folder)
            ignore = folder / ".gitignore"
            if ours and not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")


def is_document(record: FileRecord) -> bool:
    """Whether a file belongs to the default pack."""
    return languages.get(record.language).prose
