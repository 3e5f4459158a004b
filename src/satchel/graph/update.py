"""Bring the edges of an index up to date after its files changed.

The edges of a file rest on what other files show: their definitions, imports, types. Each file notes what it
consulted: paths, the names that it looked for in them, folders, the last names of what it imports, names that
it looked for anywhere. When a file shows something else of a name than before, is new or is gone, those that
consulted that are resolved anew, and no others. An edit inside a function shows others nothing new, and a
new function is nothing to files that never looked for its name.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from satchel import languages, plugins
from satchel.caching import Cache
from satchel.code_facts import FileEdges, FileFacts, Rule, Target, used_name
from satchel.graph.answers import all_names_key, folder_key, import_key, linkage_key, name_key
from satchel.graph.interfaces import (
    NOTHING_SHOWN,
    Definition,
    Interface,
    Shown,
    make_interface,
    shown_to_others,
)
from satchel.graph.linkage import DefinitionTable, as_definitions
from satchel.graph.modules.module_system import FileTable, Module, ModulePlugin, NamedDefinition
from satchel.graph.resolver import Resolver
from satchel.graph.scip.edges import ScipEdges
from satchel.storage.protocol import Snapshot, Writer
from satchel.storage.records import FileRecord, PackedFile, SymbolRecord, SymbolRow, symbol, unpack_facts
from satchel.types import Label, Symbol

if TYPE_CHECKING:  # most refreshes put no SCIP documents
    from satchel.graph.scip.binding import ScipImport

_INTERFACES_KEPT = 6_000  # about 20 kB each; more files than that share little at one time
_FACTS_KEPT = 3_000  # of files that were looked at before it was their turn
_MANY_FILES = 50  # resolved at once; the names of fewer are asked for one by one
_NAMES_KEPT = 100_000  # answers of the store about one name, most of them short
_PARSED_KEPT = 64 * 1024 * 1024  # bytes; all 2,863 files of Django with rules take a quarter of it
_IMPORT = Rule.IMPORT  # naming a member of an Enum takes 80 ns, a constant 6
_SYMBOL_BYTES = 400  # of a row in memory, about

_Parsed = tuple[bytes, list[SymbolRow]]  # the packed facts of a file, and its symbols


class GraphUpdate:
    """Collects what a refresh changes, and then resolves what that touches."""

    def __init__(self, scip: ScipImport | None = None) -> None:
        """Make an update that also puts SCIP documents in place of those that the index has."""
        self._before: dict[str, Shown | None] = {}
        self._parsed: Cache[str, _Parsed] = Cache(_PARSED_KEPT)
        self._scip = scip

    def note(self, snapshot: Snapshot, path: str) -> None:
        """Remember what a file shows before it is replaced or dropped."""
        if path not in self._before:
            record = snapshot.file(path)
            self._before[path] = None if record is None else _shown(snapshot, record)

    def keep(self, record: FileRecord, packed: PackedFile) -> None:
        """Keep what was parsed of a file that is being put, so that it need not be read from the store."""
        if languages.get(record.language).graph is not None:
            size = len(packed.facts) + _SYMBOL_BYTES * (len(packed.symbols) + 1)
            self._parsed.keep(record.path, (packed.facts, packed.symbols), size)

    def resolve(self, writer: Writer, *, everything: bool, check: Callable[[], None]) -> int:
        """Resolve the files that the changes touch, or all of them; return how many. `check` is called
        between two files and ends the work by raising."""
        if not everything:
            return self._resolve(writer, everything=False, check=check)
        with _no_search_for_cycles():
            return self._resolve(writer, everything=True, check=check)

    def _resolve(self, writer: Writer, *, everything: bool, check: Callable[[], None]) -> int:
        snapshot = writer.snapshot
        imported = self._scip.put(writer, check) if self._scip is not None else set()
        if not everything and not self._before and not imported:
            return 0
        language_of = snapshot.file_languages()
        groups = _by_modules(language_of)
        wanted = None if everything else self._touched(snapshot, groups) | imported
        every_path = frozenset(language_of)
        scip = ScipEdges(snapshot)
        count = 0
        for name in sorted(groups):
            paths = sorted(groups[name] if wanted is None else wanted.intersection(groups[name]))
            if paths:
                plugin = plugins.load("modules", name)
                is_large = everything or len(paths) > _MANY_FILES
                opened = _ResolveRun(
                    writer, plugin, groups[name], every_path, self._parsed, is_large=is_large
                )
                with closing(opened) as run:
                    count += run.run(paths, scip, check)
        if imported or scip.documents:
            others = (imported | scip.documents.keys()).difference(*groups.values())
            _put_without_rules(writer, scip, others & every_path & (every_path if wanted is None else wanted))
        return count

    def _touched(self, snapshot: Snapshot, groups: dict[str, dict[str, str]]) -> set[str]:
        """Return the paths of the files whose edges may have changed."""
        keys: set[str] = set()
        touched: set[str] = set()
        for path, before in self._before.items():
            record = snapshot.file(path)
            after = None if record is None else _shown(snapshot, record)
            if after is not None:
                touched.add(path)
            if before == after and before != NOTHING_SHOWN:
                continue
            keys |= _keys(path, before, after)
            for name, paths in groups.items():
                plugin: ModulePlugin = plugins.load("modules", name)
                if any(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in plugin.settings):
                    touched.update(paths)
        return touched.union(snapshot.consulting(keys)) if keys else touched


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Let Python not look for cycles of objects while every file is resolved: all that is made stays until
    the end, and looking for cycles takes .15 of 1.6 seconds on Django, .4 with Python's own thresholds."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _by_modules(language_of: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the files of languages with rules and their languages, by the way in which imports find them."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    modules_of: dict[str, str] = {}
    for language in set(language_of.values()):
        rules = languages.get(language).graph
        if rules is not None:
            modules_of[language] = rules.modules
    for path, language in language_of.items():
        if language in modules_of:
            groups[modules_of[language]][path] = language
    return groups


def _shown(snapshot: Snapshot, record: FileRecord) -> Shown:
    """Return what a file shows; nothing for a language without rules, of which only the text counts."""
    rules = languages.get(record.language).graph
    if rules is None:
        return NOTHING_SHOWN
    facts, symbols = snapshot.facts(record.path), snapshot.symbols(record.path)
    return shown_to_others(facts, symbols, has_name_spaces=rules.has_name_spaces)


def _keys(path: str, before: Shown | None, after: Shown | None) -> set[str]:
    """Return what the files that a change touches have noted as consulted."""
    old, new = before or NOTHING_SHOWN, after or NOTHING_SHOWN
    is_same_package = old.package == new.package
    keys = {all_names_key(path)}
    keys.update(name_key(path, name) for name in _changed_names(old, new))
    changed = old.definitions ^ new.definitions if is_same_package else old.definitions | new.definitions
    keys.update(linkage_key(name.rpartition(".")[2]) for name, *_ in changed)
    if before is None or after is None or old.whole != new.whole or new == NOTHING_SHOWN:
        keys.add(path)
    if before is None or after is None or not is_same_package:
        folder, _, name = path.rpartition("/")
        keys.add(folder_key(path))
        words = {name.partition(".")[0], folder.rpartition("/")[2], old.package, new.package}
        keys.update(import_key(word) for word in words if word)
    return keys


def _changed_names(before: Shown, after: Shown) -> list[str]:
    """Return the outermost names of which a file shows something else than before."""
    names = before.names.keys() | after.names.keys()
    return [name for name in names if before.names.get(name) != after.names.get(name)]


class _ResolveRun:
    """Resolves files that share a way of importing."""

    def __init__(
        self,
        writer: Writer,
        plugin: ModulePlugin,
        language_of: dict[str, str],
        every_path: frozenset[str],
        parsed: Mapping[str, _Parsed],
        *,
        is_large: bool,
    ) -> None:
        self.writer = writer
        self.parsed = parsed
        self.snapshot = writer.snapshot
        self.languages = language_of
        self.interfaces: Cache[str, Interface] = Cache(_INTERFACES_KEPT)
        self.named: Cache[str, Sequence[NamedDefinition]] = Cache(_NAMES_KEPT)
        # So many files are resolved that reading every definition pays. A first index has nothing else: its
        # tables get their indexes last, and each look-up of one name would read all symbols.
        self.is_large = is_large
        self.facts: Cache[str, FileFacts] = Cache(_FACTS_KEPT)
        table = FileTable(
            paths=tuple(sorted(self.languages)),
            every_path=every_path,
            read=self._read,
            package_of=self._package,
            imports_of=self._imports,
            definitions_named=self._definitions_named,
        )
        self.resolver = Resolver(plugin.open(table), self._interface, self.interfaces)

    def close(self) -> None:
        """Let go of the resolver.

        It asks this run, so the two hold each other and all that they read, 75 MB for Django. Python would
        find that only in a search for cycles among old objects, which may be minutes away or never come.
        """
        del self.resolver

    def _read(self, path: str) -> str:
        return self.snapshot.text(path) if self.snapshot.file(path) is not None else ""

    def _package(self, path: str) -> str:
        shown = self._interface(path)
        return shown.package if shown is not None else ""

    def _imports(self, path: str) -> tuple[str, ...]:
        shown = self._interface(path)
        return shown.unnamed if shown is not None else ()

    def _definitions_named(self, name: str) -> Sequence[NamedDefinition]:
        return self.named.get_or_compute(name, lambda: self._find_named(name))

    def _find_named(self, name: str) -> Sequence[NamedDefinition]:
        if self.is_large:
            return self.every_definition.named(name)
        return as_definitions(self.snapshot.symbols_named(name), self.languages)

    @cached_property
    def every_definition(self) -> DefinitionTable:
        symbols = (
            SymbolRecord(path, item) for path in sorted(self.languages) for item in self._symbols(path)
        )
        return DefinitionTable(symbols)

    def _interface(self, path: str) -> Interface | None:
        if path not in self.languages:
            return None
        return self.interfaces.get_or_compute(path, lambda: self._load(path))

    def _load(self, path: str) -> Interface:
        facts = self.facts.get_or_compute(path, lambda: self._facts(path))
        language = self.languages[path]
        rules = languages.get(language).graph
        has_spaces = rules is not None and rules.has_name_spaces
        symbols = self._symbols(path)
        return make_interface(path, language, facts, symbols, has_name_spaces=has_spaces)

    def _facts(self, path: str) -> FileFacts:
        kept = self.parsed.get(path)
        return unpack_facts(kept[0]) if kept is not None else self.snapshot.facts(path)

    def _symbols(self, path: str) -> Sequence[Symbol]:
        kept = self.parsed.get(path)
        return list(map(symbol, kept[1])) if kept is not None else self.snapshot.symbols(path)

    def run(self, paths: Sequence[str], scip: ScipEdges, check: Callable[[], None]) -> int:
        """Resolve some files, put their edges, and return how many files there were."""
        count = 0
        for path in paths:
            check()
            edges, consulted = self._edges(path), self.resolver.consulted(path)
            if path in scip.documents:
                edges, consulted = scip.added(path, edges, consulted)
            self.writer.put_edges(path, edges, consulted)
            count += 1
        return count

    def _edges(self, path: str) -> FileEdges:
        self._interface(path)  # reads the facts as well, of which most files are asked again
        facts = self.facts.pop(path, None) or self._facts(path)
        targets: dict[Definition, int] = {}
        uses: list[tuple[int, int, Rule]] = []
        resolve = self.resolver.resolve
        for number, expression in enumerate(facts.uses.expressions):
            if expression[0] == "?":
                continue
            answer = resolve(path, expression)
            if answer is None:
                continue
            meaning, rule = answer.meaning, answer.rule
            if not isinstance(meaning, Definition):
                continue
            # What a variable holds is used through the variable; only an import gives a thing another name.
            if rule is _IMPORT or used_name(expression) == meaning.name.rpartition(".")[2]:
                # An import brings the type and the value of a name alike.
                if meaning.is_value and facts.uses[number].label is Label.IMPORTS:
                    meaning = Definition(meaning.path, meaning.name)
                uses.append((number, targets.setdefault(meaning, len(targets)), rule))
        imports: list[tuple[int, int]] = []
        used = {target.path for target in targets}
        for number, item in enumerate(facts.imports):
            module = self.resolver.module_of(path, item, used)
            for other in _imported_files(module, used) if module is not None else ():
                if other != path:
                    imports.append((number, targets.setdefault(Definition(other, ""), len(targets))))
        found = tuple(Target(each.path, each.name, each.is_value) for each in targets)
        return FileEdges(found, tuple(uses), tuple(imports))


def _put_without_rules(writer: Writer, scip: ScipEdges, paths: Set[str]) -> None:
    """Put the edges of files whose language has no rules: what their SCIP documents say, and nothing else."""
    for path in sorted(paths):
        writer.put_edges(path, *scip.added(path, FileEdges(), ()))


def _imported_files(module: Module, used: Set[str]) -> Sequence[str]:
    """Return the files that an import leads to: of a package, those that are used, else the first."""
    if not module.shared:
        return module.paths
    return [path for path in module.paths if path in used] or module.paths[:1]
