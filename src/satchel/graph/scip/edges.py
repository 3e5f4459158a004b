"""Add what SCIP documents say to the edges that rules made.

A document counts for as long as its file has the content that it is bound to, and a target for as long as its
file defines it. Where the rules decided the same, their edge stays alone. Where they decided differently, the
document wins: unless a file that the rules rest on shows something else than it did when the documents were
bound, because then the compiler might decide differently, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set

import msgspec

from satchel import ids
from satchel.code_facts import FileEdges, FileFacts, Rule, ScipUses, Target, used_name
from satchel.graph.answers import all_names_key
from satchel.graph.interfaces import shown_to_others
from satchel.storage.protocol import Snapshot
from satchel.terms import last_name
from satchel.types import Label

_LABEL_ORDER = (Label.EXTENDS, Label.CALLS, Label.IMPORTS, Label.USES)
Use = tuple[int, str]
"""A line and a name that is used on it."""

Said = dict[Use, tuple[list[Target], bool]]
"""The definitions that names on lines mean, each with whether these are all that the name means there."""


class ScipEdges:
    """Knows the SCIP documents of an index while edges are resolved. Without documents it costs one look."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.documents = snapshot.scip_documents()
        self._current: dict[str, bool] = {}
        self._defined: dict[str, Set[str]] = {}

    def added(self, path: str, edges: FileEdges, consulted: Collection[str]) -> tuple[FileEdges, set[str]]:
        """Return the edges of a file together with those that its document adds, and what they rest on."""
        record = self._snapshot.file(path)
        if record is None or self.documents.get(path, "") != record.file_hash:
            return edges, set(consulted)
        uses = self._snapshot.scip_uses(path)
        said = self._said(uses)
        merged = _Merge(self._snapshot, path, edges).merge(said, self._overrules(consulted))
        # Whether a definition stands, and whether a file is as the compiler saw it, may change with any name.
        looked_at = {target.path for target in uses.targets}.union(self.documents.keys() & set(consulted))
        return merged, {*consulted, *looked_at, *map(all_names_key, looked_at)}

    def _said(self, uses: ScipUses) -> Said:
        """Return what the names on each line mean, as far as the definitions still stand, and whether that is
        all that they mean."""
        found: Said = {}
        for line, name, target, covered in uses.uses:
            meant = uses.targets[target]
            targets, is_all = found.get((line, uses.names[name]), ([], bool(covered)))
            if meant.name in self._definitions(meant.path):
                targets.append(meant)
            else:
                is_all = False
            found[line, uses.names[name]] = targets, is_all
        return found

    def _definitions(self, path: str) -> Set[str]:
        known = self._defined.get(path)
        if known is None:
            known = self._defined[path] = {item.qualified_name for item in self._snapshot.symbols(path)}
        return known

    def _overrules(self, consulted: Collection[str]) -> bool:
        """Return whether all files that the rules rest on are as the compiler saw them, as far as known."""
        return all(self._is_current(path) for path in consulted if path in self.documents)

    def _is_current(self, path: str) -> bool:
        known = self._current.get(path)
        if known is None:
            exists, bound = self._snapshot.file(path) is not None, self.documents[path]
            known = exists == bool(bound)
            if exists and bound:
                known = self._snapshot.scip_uses(path).shown == shown_hash(self._snapshot, path)
            self._current[path] = known
        return known


class _Merge:
    """Joins the edges of one file with what its document says."""

    def __init__(self, snapshot: Snapshot, path: str, edges: FileEdges) -> None:
        self._edges = edges
        self._facts = snapshot.facts(path)
        self._labels = _labels(self._facts)
        for item in snapshot.references(path) if not self._facts.uses else ():
            self._labels.setdefault((item.line, last_name(item.name)), item.label)
        self._targets = {target: number for number, target in enumerate(edges.targets)}

    def merge(self, said: Said, overrules: bool) -> FileEdges:
        """Return the joined edges."""
        kept: list[tuple[int, int, Rule]] = []
        by_line: list[tuple[int, str, Label, int, Rule]] = []
        decided: set[tuple[int, str, str]] = set()  # lines with the definitions that are used on them
        for number, target, rule in self._edges.uses:
            use = self._facts.uses[number]
            name, meant = used_name(use.expression), self._edges.targets[target]
            lines = [line for line in use.lines if not (overrules and _denies(said.get((line, name)), meant))]
            decided.update((line, meant.path, meant.name) for line in lines)
            if len(lines) == len(use.lines):
                kept.append((number, target, rule))
            else:
                by_line += [(line, name, use.label, target, rule) for line in lines]
        for (line, name), meant in sorted(_pairs(said), key=_own_name_first):
            if (line, meant.path, meant.name) not in decided:
                decided.add((line, meant.path, meant.name))
                label = self._labels.get((line, name), Label.USES)
                number = self._targets.setdefault(meant, len(self._targets))
                by_line.append((line, name, label, number, Rule.SCIP))
        return FileEdges(tuple(self._targets), tuple(kept), self._edges.imports, tuple(sorted(by_line)))


def _pairs(said: Said) -> Iterator[tuple[Use, Target]]:
    return ((use, meant) for use, (targets, _) in said.items() for meant in targets)


def _own_name_first(pair: tuple[Use, Target]) -> tuple[int, bool, str, str, str, bool]:
    """Return what pairs are ordered by. `import { total as sum }` has two names for one definition: its own
    one is kept."""
    (line, name), meant = pair
    is_other = meant.name.rpartition(".")[2] != name
    return line, is_other, name, meant.path, meant.name, meant.is_value


def _denies(said: tuple[list[Target], bool] | None, meant: Target) -> bool:
    """Return whether a name has other meanings than one that the rules found."""
    if said is None or not said[1]:
        return False
    return all((other.path, other.name) != (meant.path, meant.name) for other in said[0])


def _labels(facts: FileFacts) -> dict[Use, Label]:
    """Return how each name is used on each line, the most telling way first."""
    found: dict[Use, Label] = {}
    order = {label: position for position, label in enumerate(_LABEL_ORDER)}
    for use in facts.uses:
        name = used_name(use.expression)
        for line in use.lines:
            known = found.get((line, name))
            if known is None or order.get(use.label, len(order)) < order.get(known, len(order)):
                found[line, name] = use.label
    return found


def shown_hash(snapshot: Snapshot, path: str) -> str:
    """Return the hash of what a file shows to others."""
    shown = shown_to_others(snapshot.facts(path), snapshot.symbols(path))
    return ids.hash_bytes(msgspec.msgpack.encode(shown, order="deterministic"))[:16]
