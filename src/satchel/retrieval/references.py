"""Where a name is defined, who uses it, and which files mention it.

Uses that a rule of their language resolved are sure (`code_graph`). Others that share the name are possible:
they are kept apart, because most of them mean something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from satchel import languages
from satchel.caching import Cache
from satchel.code_facts import CONFIDENCE, POSSIBLE, POSSIBLE_IN, Target
from satchel.retrieval.code_graph import SureUse, file_uses, importers_of, uses_between, uses_of
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.outside_names import dotted, find_outside_uses
from satchel.storage.records import ChunkRecord, FileRecord, SymbolRecord
from satchel.terms import compound, last_name
from satchel.types import ChunkKind, Label, ResolvedReference

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
    return _in_code(name, corpus.symbols_named(name))


def _in_code(name: str, symbols: Iterable[SymbolRecord]) -> list[SymbolRecord]:
    return [item for item in symbols if item.symbol.name == name and item.symbol.kind in CODE_KINDS]


def definition_chunk(corpus: Corpus, use: SureUse) -> tuple[ChunkRecord, int] | None:
    """Return the chunk of the definition that a use means, and the line of the definition."""
    line = definition_line(corpus, use)
    chunks = corpus.snapshot.chunks(use.target.path, line, line) if line else []
    return (chunks[0], line) if chunks else None


def definition_line(corpus: Corpus, use: SureUse) -> int:
    """Return the first line of the definition that a use means, 0 if the file has none of that name."""
    lines = _definition_lines(corpus, use.target.path)
    name = use.target.name
    return lines.get((name, use.is_value)) or lines.get((name, not use.is_value), 0)


def means_chunk(corpus: Corpus, use: SureUse, chunk: ChunkRecord) -> bool:
    """Return whether a use of the name of a chunk means it, not a type or value of the same name."""
    lines = _definition_lines(corpus, use.target.path)
    is_shared = (use.target.name, True) in lines and (use.target.name, False) in lines
    return not is_shared or use.is_value == (chunk.kind not in TYPE_KINDS)


def _definition_lines(corpus: Corpus, path: str) -> dict[tuple[str, bool], int]:
    """Return the first line of each definition of a file, by its qualified name and whether it is a value."""

    def read() -> dict[tuple[str, bool], int]:
        symbols = corpus.snapshot.symbols(path)
        return {
            (item.qualified_name, item.kind not in TYPE_KINDS): item.start_line for item in reversed(symbols)
        }

    return corpus.file_cache.definition_lines.get_or_compute(path, read)


def clear_definitions(corpus: Corpus, name: str) -> tuple[tuple[str, int], ...]:
    """Return the path and line of each definition of a name; nothing if there are too many."""
    return clear_definitions_of(corpus, (name,))[name]


def clear_definitions_of(corpus: Corpus, names: Iterable[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the clear definitions of each name. All names are looked up together: one after another takes
    a library of 300 repositories 10 ms for each."""
    kept = corpus.memo(_definition_cache)
    found = {name: kept.get(name) for name in names}
    missing = [name for name, places in found.items() if places is None]
    for name, symbols in corpus.snapshot.symbols_named_many(missing, _are_too_many).items():
        places = tuple((record.path, record.symbol.start_line) for record in _in_code(name, symbols))
        found[name] = kept.keep(name, places if len(places) <= _FEW_DEFINITIONS else ())
    return {name: places or () for name, places in found.items()}


def _are_too_many(name: str, symbols: Sequence[SymbolRecord]) -> bool:
    return len(symbols) > _FEW_DEFINITIONS and len(_in_code(name, symbols)) > _FEW_DEFINITIONS


def _definition_cache(corpus: Corpus) -> Cache[str, tuple[tuple[str, int], ...]]:
    return Cache(_NAMES_KEPT)


def files_mentioning(corpus: Corpus, name: str) -> list[int]:
    """Return the positions of the files that hold a name as one identifier, which is a term of its own."""
    return corpus.files_holding(compound(name))


def definitions_meant(corpus: Corpus, name: str) -> list[SymbolRecord]:
    """Return the definitions that a name means, or a qualified one such as `Basket.total`."""
    short = last_name(name)
    found = definitions_of(corpus, short)
    if name == short:
        return found
    return [item for item in found if _ends_with(item.symbol.qualified_name, dotted(name))]


def definition_targets(corpus: Corpus, name: str) -> list[Target]:
    """Return what edges lead to that mean the definitions of a name."""
    found = definitions_meant(corpus, name)
    return list(dict.fromkeys(Target(item.path, item.symbol.qualified_name) for item in found))


def find_references(
    corpus: Corpus, name: str, labels: Iterable[Label] = (), *, possible: bool = False
) -> list[ResolvedReference]:
    """Return the sure uses of the definitions that a name means, by path and line; with `possible`, also the
    uses that share the name and that no rule decided. Where no rule exists these are all there is. Of a
    qualified name that nothing here defines these are the uses that are written so."""
    wanted = set(labels)
    definitions = definitions_meant(corpus, name)
    types: dict[Target, SymbolRecord] = {}
    others: dict[Target, SymbolRecord] = {}  # values, which may share their name with a type
    for item in reversed(definitions):
        kept = types if item.symbol.kind in TYPE_KINDS else others
        kept[Target(item.path, item.symbol.qualified_name)] = item
    found = []
    for use in uses_of(corpus, types | others):
        first, second = (others, types) if use.is_value else (types, others)
        found.append(_sure(corpus, use, first.get(use.target) or second[use.target]))
    if possible or not any(corpus.has_graph(item.path) for item in definitions):
        is_outside = not definitions and last_name(name) != name
        found += (
            find_outside_uses(corpus, name) if is_outside else _possible(corpus, last_name(name), definitions)
        )
    chosen = [item for item in found if _is_wanted(item, wanted)]
    return sorted(chosen, key=lambda item: (item.path, item.line, item.label, item.rule, item.target))


def find_uses_made(corpus: Corpus, name: str, labels: Iterable[Label] = ()) -> list[ResolvedReference]:
    """Return the sure uses inside the definitions that a name means, by path and line: what these use. Uses
    of the definitions themselves are left out."""
    wanted = set(labels)
    found: dict[tuple[str, int, str, str], ResolvedReference] = {}
    for item in definitions_meant(corpus, name):
        symbol = item.symbol
        for use in uses_between(corpus, item.path, symbol.start_line, symbol.end_line):
            definition = _definition_meant(corpus, use)
            if definition in (None, item):
                continue
            made = _sure(corpus, use, definition)
            if _is_wanted(made, wanted):
                found[(made.path, made.line, made.name, made.target)] = made
    return sorted(found.values(), key=lambda one: (one.path, one.line, one.label, one.rule, one.target))


def _definition_meant(corpus: Corpus, use: SureUse) -> SymbolRecord | None:
    """Return the definition that a use means; None for one that means a file."""
    path, name = use.target.path, use.target.name
    line = definition_line(corpus, use)
    named = (item for item in corpus.snapshot.symbols(path) if item.qualified_name == name)
    return next((SymbolRecord(path, item) for item in named if item.start_line == line), None)


def _is_wanted(item: ResolvedReference, labels: set[Label]) -> bool:
    return not labels or item.label in labels or (item.in_test and Label.TESTED_BY in labels)


def _sure(corpus: Corpus, use: SureUse, definition: SymbolRecord) -> ResolvedReference:
    return ResolvedReference(
        path=use.path,
        line=use.line,
        label=use.label,
        name=use.name,
        target=_locator(definition),
        target_name=definition.symbol.qualified_name,
        confidence=CONFIDENCE[use.rule],
        in_test=corpus.is_test(use.path),
        rule=use.rule.value,
    )


def _possible(corpus: Corpus, short: str, definitions: Sequence[SymbolRecord]) -> Iterator[ResolvedReference]:
    """Yield the uses of a name that no rule decided. The target is told only if there is one definition; how
    often it is meant was measured only in languages with rules."""
    target = definitions[0] if len(definitions) == 1 else None
    for record in _records_mentioning(corpus, short):
        measured = POSSIBLE_IN.get(record.language, POSSIBLE) if corpus.has_graph(record.path) else 0.0
        decided = {(use.line, use.name) for use in file_uses(corpus, record.path).uses}
        for use in corpus.snapshot.references(record.path):
            if last_name(use.name) == short and (use.line, short) not in decided:
                yield ResolvedReference(
                    path=record.path,
                    line=use.line,
                    label=use.label,
                    name=use.name,
                    target=_locator(target) if target else "",
                    target_name=target.symbol.qualified_name if target else "",
                    confidence=measured if target else 0.0,
                    in_test="test" in record.tags,
                )


def find_file_references(corpus: Corpus, path: str, labels: Iterable[Label] = ()) -> list[ResolvedReference]:
    """Return the imports of a file and the links to it, by path and line."""
    wanted = set(labels)
    stem = import_stem(path)
    found = [(other, line, Label.IMPORTS) for other, line in importers_of(corpus, path)]
    found += [(other, line, Label.LINKS_TO) for other, line in find_links(corpus, path)]
    return [
        ResolvedReference(
            path=other,
            line=line,
            label=label,
            name=stem,
            target=path,
            target_name=stem,
            confidence=1.0,
            in_test=corpus.is_test(other),
            rule="import" if label is Label.IMPORTS else "link",
        )
        for other, line, label in sorted(found)
        if not wanted or label in wanted
    ]


def _locator(definition: SymbolRecord) -> str:
    symbol = definition.symbol
    return f"{definition.path}:{symbol.start_line}:{symbol.end_line}"


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


def _ends_with(qualified_name: str, name: str) -> bool:
    return qualified_name == name or qualified_name.endswith("." + name)


def _records_mentioning(corpus: Corpus, name: str) -> list[FileRecord]:
    return [corpus.files[position] for position in files_mentioning(corpus, name)]
