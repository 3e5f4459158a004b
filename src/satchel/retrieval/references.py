"""Who uses a name: the references in the index, each resolved to a definition with a confidence."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from satchel import languages
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.names import last_name
from satchel.storage.records import FileRecord, SymbolRecord
from satchel.terms import compound
from satchel.types import ChunkKind, Label, Reference, ResolvedReference

# how sure it is that a use of a name means this definition
_SAME_FILE = 0.9
_IMPORTED = 0.95
_ONLY_ONE = 0.8
_SAME_PACKAGE = 0.7  # the folder is imported, and may hand the name on
_METHOD_BY_BARE_NAME = 0.9  # an imported name is rather a function than a method
_LEAST = 0.1
_NOT_CODE = frozenset({ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT})


def find_references(corpus: Corpus, name: str, labels: Iterable[Label] = ()) -> list[ResolvedReference]:
    """Every use of a name (or of a qualified name's last part), by path and line."""
    short = last_name(name)
    definitions = [
        item
        for item in corpus.snapshot.symbols_named(short)
        if item.symbol.name == short and item.symbol.kind not in _NOT_CODE
    ]
    if name != short:
        dotted = re.sub(r"::|/|#|->", ".", name)
        definitions = [item for item in definitions if _ends_with(item.symbol.qualified_name, dotted)]
    wanted = set(labels)
    found = []
    for record in _files_that_mention(corpus, short):
        in_test = "test" in record.tags
        references = corpus.snapshot.references(record.path)
        imports = [item.name for item in references if item.label is Label.IMPORTS]
        for use in references:
            labelled = not wanted or use.label in wanted or (in_test and Label.TESTED_BY in wanted)
            if labelled and last_name(use.name) == short:
                found.append(_resolve(record.path, use, definitions, imports, in_test))
    return found


def find_file_references(corpus: Corpus, path: str, labels: Iterable[Label] = ()) -> list[ResolvedReference]:
    """Who imports or links to a file."""
    wanted = set(labels)
    found = []
    stem = path.rpartition("/")[2].partition(".")[0]
    if stem in languages.index_stems():  # `docs/index.md` is linked to as `docs`, too
        stem = path.rpartition("/")[0].rpartition("/")[2] or stem
    for record in _files_that_mention(corpus, stem):
        for use in corpus.snapshot.references(record.path):
            points = (
                _links_to(use.name, record.path, path)
                if use.label is Label.LINKS_TO
                else (use.label is Label.IMPORTS and record.path != path and imports_file(use.name, path))
            )
            if points and (not wanted or use.label in wanted):
                found.append(
                    ResolvedReference(
                        record.path,
                        use.line,
                        use.label,
                        use.name,
                        path,
                        stem,
                        _IMPORTED,
                        "test" in record.tags,
                    )
                )
    return found


def _links_to(written: str, source: str, target: str) -> bool:
    """Whether a link, as written in one document, leads to a file: relative to its folder or to the root."""
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(source), written))
    rooted = posixpath.normpath(written.lstrip("/"))
    stem = target.rpartition(".")[0]
    return target in (relative, rooted) or (bool(stem) and stem in (relative, rooted))


def _ends_with(qualified_name: str, dotted: str) -> bool:
    return qualified_name == dotted or qualified_name.endswith("." + dotted)


def _files_that_mention(corpus: Corpus, name: str) -> list[FileRecord]:
    """Full text finds the files; the name as one identifier is a term of its own."""
    places, _ = corpus.postings(compound(name))
    return [corpus.files[position] for position in sorted(set(corpus.file_of[places].tolist()))]


def _resolve(
    path: str, use: Reference, definitions: list[SymbolRecord], imports: list[str], in_test: bool
) -> ResolvedReference:
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
    if item.path == path:
        return _SAME_FILE
    if any(imports_file(written, item.path) for written in imports):
        return _IMPORTED
    if any(_imports_folder(written, item.path) for written in imports):
        return _SAME_PACKAGE * (_METHOD_BY_BARE_NAME if item.symbol.kind is ChunkKind.METHOD else 1.0)
    return _ONLY_ONE if len(definitions) == 1 else max(_LEAST, round(0.5 / len(definitions), 2))


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
    folder = path.rpartition("/")[0].rpartition("/")[2]
    asked = [part for part in re.split(r"[./\\:]+", written) if part]
    return bool(folder) and folder in asked[-2:]
