"""Bind the documents of SCIP files to the files of an index: what each says is kept with the hash of the
content that it was compared with, and its symbols become definitions of the index.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from satchel import ids
from satchel.code_facts import FileFacts, ScipUses, Target
from satchel.graph.interfaces import TYPE_KINDS
from satchel.graph.scip.documents import ScipDocument, ScipFile
from satchel.graph.scip.edges import shown_hash
from satchel.graph.scip.fitting import Fitted, Position, columns_of, fit_document
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot, Writer
from satchel.storage.records import FileRecord
from satchel.types import Symbol

_NAME_LINES = 20  # of a definition, among which its name stands
_AMBIGUOUS = Target("")


class ScipImport:
    """Puts the documents of some SCIP files in place of those that an index has; no files: of all."""

    def __init__(self, files: Sequence[ScipFile] = ()) -> None:
        self._files = files

    def put(self, writer: Writer, check: Callable[[], None]) -> set[str]:
        """Put the documents, and return the paths of those that there were or are now. `check` is called
        between two documents and ends the work by raising."""
        before = writer.snapshot.scip_documents()
        if before:
            writer.drop_scip()
        binder = _Binder(writer.snapshot)
        for file in self._files:
            for document in file.documents():
                check()
                binder.add(document, file.mtime_ns)
        for path, file_hash, uses in binder.bound():
            check()
            writer.put_scip(path, file_hash, uses)
        return {*before, *binder.paths}


class _Binder:
    """Compares documents with an index one by one, and then resolves their symbols among each other."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.paths: set[str] = set()
        self._targets: dict[str, Target] = {}  # by symbol
        self._numbers: dict[str, int] = {}  # of symbols and of names
        # Four numbers for each use of a document that fits: line, column, name, symbol.
        self._uses: dict[str, array[int]] = {}

    def add(self, document: ScipDocument, written_ns: int) -> None:
        """Take what a document says, if it is about the text that the index has. A file that was changed
        after the SCIP file was written is not that, unless the document has its text with it."""
        self.paths.add(document.path)
        record = self._snapshot.file(document.path)
        if record is None or not _is_content(document, record, written_ns):
            return
        text = self._snapshot.text(record.path)
        facts = self._snapshot.facts(record.path)
        fitted = fit_document(document, text, _aliases(facts))
        if fitted is not None:
            positions = _positions(split_lines(text), self._snapshot.symbols(record.path))
            self._define(record.path, positions, fitted)
            kept = self._uses.setdefault(record.path, array("I"))
            for position, name, symbol in fitted.uses:
                # A method of an object that makes up a type is a definition, not a use of the type's method.
                if position not in positions:
                    kept.extend((*position, self._number(name), self._number(symbol)))

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def _define(self, path: str, positions: Mapping[Position, Symbol], fitted: Fitted) -> None:
        """Note which definition of the index each symbol is; none if it is defined in several places."""
        kinds: dict[str, set[bool]] = defaultdict(set)
        for item in self._snapshot.symbols(path):
            kinds[item.qualified_name].add(item.kind in TYPE_KINDS)
        for position, name, symbol in fitted.definitions:
            found = positions.get(position)
            if found is not None and found.name == name:
                is_value = len(kinds[found.qualified_name]) > 1 and found.kind not in TYPE_KINDS
                target = Target(path, found.qualified_name, is_value)
                if self._targets.setdefault(symbol, target) != target:
                    self._targets[symbol] = _AMBIGUOUS

    def bound(self) -> Iterator[tuple[str, str, ScipUses]]:
        """Yield each document by path with the hash of its content, which is empty where it fits none."""
        texts = list(self._numbers)
        for path in sorted(self.paths):
            kept = self._uses.get(path)
            record = self._snapshot.file(path)
            if kept is None or record is None:
                yield path, "", ScipUses()
                continue
            found = {
                (kept[at], kept[at + 1], texts[kept[at + 2]], target)
                for at in range(0, len(kept), 4)
                if (target := self._targets.get(texts[kept[at + 3]], _AMBIGUOUS)) is not _AMBIGUOUS
            }
            yield path, record.file_hash, self._packed(path, found)

    def _packed(self, path: str, found: set[tuple[int, int, str, Target]]) -> ScipUses:
        lines = split_lines(self._snapshot.text(path))
        positions = {(line, column, name) for line, column, name, _ in found}
        counts = Counter((line, name) for line, _, name in positions)
        names: dict[str, int] = {}
        targets: dict[Target, int] = {}
        uses = set()
        for line, _, name, target in sorted(found, key=_in_order):
            covered = counts[line, name] >= len(columns_of(lines[line - 1], name))
            number = names.setdefault(name, len(names))
            uses.add((line, number, targets.setdefault(target, len(targets)), int(covered)))
        return ScipUses(shown_hash(self._snapshot, path), tuple(names), tuple(targets), tuple(sorted(uses)))


def _in_order(item: tuple[int, int, str, Target]) -> tuple[int, int, str, str, str, bool]:
    line, column, name, target = item
    return line, column, name, target.path, target.name, target.is_value


def _is_content(document: ScipDocument, record: FileRecord, written_ns: int) -> bool:
    """Return whether a document may be about the content of a file."""
    if document.text is not None:
        return ids.hash_bytes(document.text) == record.file_hash
    return record.mtime_ns <= written_ns


def _aliases(facts: FileFacts) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for item in facts.imports:
        if item.name and item.imported and item.name != item.imported:
            found[item.name.partition("@")[0]].append(item.imported)
    return found


def _positions(lines: Sequence[str], symbols: Sequence[Symbol]) -> dict[Position, Symbol]:
    """Return the definitions of a file by the position of their name, the first word of that name in them."""
    found: dict[Position, Symbol] = {}
    for symbol in symbols:
        last = min(symbol.end_line, symbol.start_line + _NAME_LINES)
        for number in range(symbol.start_line, last + 1):
            columns = columns_of(lines[number - 1], symbol.name)
            if columns:
                found.setdefault((number, columns[0]), symbol)
                break
    return found
