"""Are the citations of a pack still true? Each is read again; what is not true is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from satchel.packing.citation import Citation
from satchel.packing.relocation import CitedTree, Place, as_rows, elsewhere, in_file, is_at, namesake
from satchel.types import Skipped


class State(StrEnum):
    """What became of a citation."""

    TRUE = "true"
    MOVED = "moved"  # the same text stands elsewhere
    CHANGED = "changed"  # other text stands in its place
    GONE = "gone"


class Verdict(msgspec.Struct, frozen=True):
    """A citation, what became of it, and what to read in its stead now (None if nothing)."""

    citation: Citation
    state: State
    detail: str = ""
    now: Place | None = None


def verify(citations: Iterable[Citation], tree_of: Callable[[str], CitedTree]) -> list[Verdict]:
    """What became of each, in order. `tree_of` gives the tree of a ref."""
    first = [_in_its_file(citation, tree_of(citation.ref)) for citation in citations]
    lost: dict[CitedTree, list[Citation]] = {}
    for verdict in first:
        if verdict.now is None:
            lost.setdefault(tree_of(verdict.citation.ref), []).append(verdict.citation)
    moved: dict[Citation, Place] = {}
    for tree, citations_of_tree in lost.items():
        moved |= elsewhere(citations_of_tree, tree)
    return [_settled(verdict, moved, tree_of) for verdict in first]


def _in_its_file(citation: Citation, tree: CitedTree) -> Verdict:
    source = tree.source(citation.path)
    if isinstance(source, Skipped):
        return Verdict(citation, State.GONE, source.detail or source.reason.value)
    place = _cited(citation)
    if is_at(citation, tree, place):
        if citation.shown is None or as_rows(citation.shown) == _rows(tree, place):
            return Verdict(citation, State.TRUE, now=place)
        return Verdict(citation, State.CHANGED, "the pack shows other text than these lines", place)
    if (found := in_file(citation, tree, citation.path)) is not None:
        return Verdict(citation, State.MOVED, f"now at {found}", found)
    count = len(tree.lines(citation.path))
    if citation.end_line > count:
        return Verdict(citation, State.GONE, f"the file has {count} lines now")
    return Verdict(citation, State.CHANGED, "these lines read otherwise now")


def _settled(verdict: Verdict, moved: dict[Citation, Place], tree_of: Callable[[str], CitedTree]) -> Verdict:
    """The verdict with what other files and the names in the index tell."""
    citation = verdict.citation
    if verdict.now is not None:
        return verdict
    if citation in moved:
        return Verdict(citation, State.MOVED, f"now at {moved[citation]}", moved[citation])
    tree = tree_of(citation.ref)
    if not tree.lines(citation.path):
        return verdict
    chunk = namesake(citation, tree.index())
    if chunk is not None and chunk.end_line <= len(tree.lines(citation.path)):
        place = Place(citation.path, chunk.start_line, chunk.end_line)
        detail = f"{verdict.detail}; {chunk.kind.value} {citation.symbol} is at {place}"
        return Verdict(citation, State.CHANGED, detail, place)
    if verdict.state is State.CHANGED:
        return msgspec.structs.replace(verdict, now=_cited(citation))
    return verdict


def _cited(citation: Citation) -> Place:
    return Place(citation.path, citation.start_line, citation.end_line)


def _rows(tree: CitedTree, place: Place) -> list[str]:
    return tree.rows(place.path)[place.start_line - 1 : place.end_line]
