"""The symbol resolver: where a name is defined, which files mention it, which definition a use means.

References are known by name alone, so each resolved use carries a confidence: it is high where the use is in
the file of the definition, where that file is imported, or where the name has one definition only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from satchel import languages
from satchel.caching import Cache
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.file_cache import DocumentLink
from satchel.storage.records import ChunkRecord, FileRecord, SymbolRecord
from satchel.terms import compound, last_name
from satchel.types import ChunkKind, Label, Reference, ResolvedReference

# The confidence that a use of a name means a definition.
SAME_FILE = 0.9
IMPORTED = 0.95
ONLY_DEFINITION = 0.8
_SAME_PACKAGE = 0.7  # the folder is imported, and may export the name
_METHOD_BY_BARE_NAME = 0.9  # a factor: an imported name is rather a function than a method
_LEAST = 0.1
_FEW_DEFINITIONS = 3  # of one name; with more it is not clear which is meant
_NAMES_KEPT = 10_000  # about 2 MB
CODE_KINDS = frozenset(ChunkKind) - {ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT, ChunkKind.FILE}
TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.ENUM, ChunkKind.IMPL}
)


class Edge(msgspec.Struct, frozen=True):
    """A use resolved to a definition. `chunk` is the code that uses `name`, or that defines it."""

    chunk: ChunkRecord
    line: int
    label: Label
    confidence: float
    name: str  # of the definition


def definitions_of(corpus: Corpus, name: str) -> list[SymbolRecord]:
    """Return the definitions of a name in code, in just this case of letters."""
    return [
        record
        for record in corpus.snapshot.symbols_named(name)
        if record.symbol.name == name and record.symbol.kind in CODE_KINDS
    ]


def clear_definitions(corpus: Corpus, name: str) -> tuple[tuple[str, int], ...]:
    """Return the path and line of each definition of a name; nothing if there are too many."""

    def find() -> tuple[tuple[str, int], ...]:
        found = tuple((record.path, record.symbol.start_line) for record in definitions_of(corpus, name))
        return found if len(found) <= _FEW_DEFINITIONS else ()

    return corpus.memo(_definition_cache).get_or_compute(name, find)


def _definition_cache(corpus: Corpus) -> Cache[str, tuple[tuple[str, int], ...]]:
    return Cache(_NAMES_KEPT)


def files_mentioning(corpus: Corpus, name: str) -> list[int]:
    """Return the positions of the files that hold a name as one identifier, which is a term of its own."""
    return corpus.files_holding(compound(name))


def find_references(corpus: Corpus, name: str, labels: Iterable[Label] = ()) -> list[ResolvedReference]:
    """Return every use of a name (or of a qualified name's last part), by path and line."""
    short = last_name(name)
    definitions = definitions_of(corpus, short)
    if name != short:
        dotted = re.sub(r"::|/|#|->", ".", name)
        definitions = [item for item in definitions if _ends_with(item.symbol.qualified_name, dotted)]
    wanted = set(labels)
    found = []
    for record in _records_mentioning(corpus, short):
        in_test = "test" in record.tags
        references = corpus.snapshot.references(record.path)
        imports = [item.name for item in references if item.label is Label.IMPORTS]
        for use in references:
            labelled = not wanted or use.label in wanted or (in_test and Label.TESTED_BY in wanted)
            if labelled and last_name(use.name) == short:
                found.append(_resolve(record.path, use, definitions, imports, in_test))
    return found


def find_file_references(corpus: Corpus, path: str, labels: Iterable[Label] = ()) -> list[ResolvedReference]:
    """Return the imports of a file and the links to it, by path and line."""
    wanted = set(labels)
    found = []
    stem = import_stem(path)
    for record in _records_mentioning(corpus, stem):
        for use in corpus.snapshot.references(record.path):
            points = (
                DocumentLink.of(use, record.path).leads_to(path)
                if use.label is Label.LINKS_TO
                else (use.label is Label.IMPORTS and record.path != path and imports_file(use.name, path))
            )
            if points and (not wanted or use.label in wanted):
                found.append(
                    ResolvedReference(
                        path=record.path,
                        line=use.line,
                        label=use.label,
                        name=use.name,
                        target=path,
                        target_name=stem,
                        confidence=IMPORTED,
                        in_test="test" in record.tags,
                    )
                )
    return found


def find_links(corpus: Corpus, path: str) -> list[tuple[str, int]]:
    """Return the documents that link to a file, each with the line of its link."""
    return [
        (record.path, link.line)
        for record in _records_mentioning(corpus, import_stem(path))
        for link in corpus.links(record.path)
        if link.leads_to(path)
    ]


def import_stem(path: str) -> str:
    """Return the name by which a file is imported: its stem, or its folder for `docs/index.md`."""
    stem = path.rpartition("/")[2].partition(".")[0]
    if stem in languages.index_stems():
        return path.rpartition("/")[0].rpartition("/")[2] or stem
    return stem


def imports_file(written: str, path: str) -> bool:
    """Whether an import, as written, can mean a file: their last parts agree."""
    stem = path.rpartition(".")[0] or path
    parts = [part for part in stem.split("/") if part]
    if parts and parts[-1] in languages.index_stems():
        parts.pop()
    asked = [
        part for part in re.split(r"[./\\:]+", written) if part and part not in ("crate", "self", "super")
    ]
    for end in (len(asked), len(asked) - 1):  # the last part may be a name inside the file
        tail = asked[max(0, end - 2) : end]
        if tail and parts[-len(tail) :] == tail:
            return True
    return False


def _imports_folder(written: str, path: str) -> bool:
    """Whether an import, as written, names the folder of a file among its last two parts."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    asked = [part for part in re.split(r"[./\\:]+", written) if part]
    return bool(folder) and folder in asked[-2:]


def _ends_with(qualified_name: str, dotted: str) -> bool:
    return qualified_name == dotted or qualified_name.endswith("." + dotted)


def _records_mentioning(corpus: Corpus, name: str) -> list[FileRecord]:
    return [corpus.files[position] for position in files_mentioning(corpus, name)]


def _resolve(
    path: str, use: Reference, definitions: list[SymbolRecord], imports: list[str], in_test: bool
) -> ResolvedReference:
    """Return a use with the definition that it most likely means."""
    scored = sorted(
        ((_confidence(path, item, definitions, imports), item) for item in definitions),
        key=lambda pair: (-pair[0], pair[1].path, pair[1].symbol.start_line),
    )
    confidence, target = scored[0] if scored else (0.0, None)
    return ResolvedReference(
        path=path,
        line=use.line,
        label=use.label,
        name=use.name,
        target=f"{target.path}:{target.symbol.start_line}:{target.symbol.end_line}" if target else "",
        target_name=target.symbol.qualified_name if target else "",
        confidence=round(confidence, 2),
        in_test=in_test,
    )


def _confidence(path: str, item: SymbolRecord, definitions: list[SymbolRecord], imports: list[str]) -> float:
    """Return how sure it is that a use in the file `path` with these imports means the definition `item`."""
    if item.path == path:
        return SAME_FILE
    if any(imports_file(written, item.path) for written in imports):
        return IMPORTED
    if any(_imports_folder(written, item.path) for written in imports):
        return _SAME_PACKAGE * (_METHOD_BY_BARE_NAME if item.symbol.kind is ChunkKind.METHOD else 1.0)
    return ONLY_DEFINITION if len(definitions) == 1 else max(_LEAST, round(0.5 / len(definitions), 2))
