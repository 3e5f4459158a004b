"""Are the citations of a pack still true? Each is read again; what is not true is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from satchel.types import Skipped
from satchel.verifying.alignment import align
from satchel.verifying.relocation import (
    CitedTree,
    Location,
    as_rows,
    current_location,
    elsewhere,
    in_file,
    is_at,
    location_of,
    namesake,
)
from satchel.verifying.saved_pack import Citation


class State(StrEnum):
    """What became of a citation."""

    TRUE = "true"
    MOVED = "moved"  # the same text stands elsewhere
    CHANGED = "changed"  # other text stands in its place
    GONE = "gone"


class CitationCheck(msgspec.Struct, frozen=True):
    """A citation, what became of it, and what to read in its stead now (None if nothing); `outside` are lines
    of the file that it cited and that the place of now does not hold."""

    citation: Citation
    state: State
    detail: str = ""
    now: Location | None = None
    outside: tuple[int, ...] = ()


def verify(citations: Iterable[Citation], tree_of: Callable[[str], CitedTree]) -> list[CitationCheck]:
    """What became of each, in order. `tree_of` gives the tree of a ref."""
    first = [_in_its_file(citation, tree_of(citation.ref)) for citation in citations]
    lost: dict[CitedTree, list[Citation]] = {}
    for check in first:
        if check.now is None:
            lost.setdefault(tree_of(check.citation.ref), []).append(check.citation)
    moved: dict[Citation, Location] = {}
    for tree, citations_of_tree in lost.items():
        moved |= elsewhere(citations_of_tree, tree)
    return [_settled(check, moved, tree_of) for check in first]


def _in_its_file(citation: Citation, tree: CitedTree) -> CitationCheck:
    source = tree.source(citation.path)
    if isinstance(source, Skipped):
        return CitationCheck(citation, State.GONE, source.detail or source.reason.value)
    place = _cited(citation)
    if is_at(citation, tree, place):
        if citation.shown is None or as_rows(citation.shown) == _rows(tree, place):
            return CitationCheck(citation, State.TRUE, now=place)
        return CitationCheck(citation, State.CHANGED, "the pack shows other text than these lines", place)
    if (found := in_file(citation, tree, citation.path)) is not None:
        return CitationCheck(citation, State.MOVED, f"now at {found}", found)
    count = len(tree.lines(citation.path))
    if citation.end_line > count:
        return CitationCheck(citation, State.GONE, f"the file has {count} lines now")
    return CitationCheck(citation, State.CHANGED, "these lines read otherwise now")


def _settled(
    check: CitationCheck, moved: dict[Citation, Location], tree_of: Callable[[str], CitedTree]
) -> CitationCheck:
    """The check with what other files and the names in the index tell."""
    citation = check.citation
    if check.now is not None:
        return check
    if citation in moved:
        return CitationCheck(citation, State.MOVED, f"now at {moved[citation]}", moved[citation])
    tree = tree_of(citation.ref)
    if not tree.lines(citation.path):
        return check
    return _rewritten(check, tree)


def _rewritten(check: CitationCheck, tree: CitedTree) -> CitationCheck:
    """A text that stands nowhere as it was: where what it has become is."""
    citation = check.citation
    rows = tree.rows(citation.path)
    index = tree.index()
    known = [] if index is None or index.file(citation.path) is None else index.chunks(citation.path)
    chunks = [chunk for chunk in known if chunk.end_line <= len(rows)]  # the index may be of another moment
    named = namesake(citation, chunks)
    aligned = None if citation.shown is None else align(as_rows(citation.shown), rows)
    place = current_location(citation, aligned, named, chunks)
    if place is None:
        return check if check.state is State.GONE else replace(check, now=_cited(citation))
    detail = check.detail
    if named is not None:
        detail += f"; {named.kind.value} {citation.symbol} is at {location_of(named)}"
    met = aligned.met if aligned is not None else ()
    outside = tuple(line for line in met if not place.start_line <= line <= place.end_line)
    return CitationCheck(citation, State.CHANGED, detail, place, outside)


def _cited(citation: Citation) -> Location:
    return Location(citation.path, citation.start_line, citation.end_line)


def _rows(tree: CitedTree, place: Location) -> list[str]:
    return tree.rows(place.path)[place.start_line - 1 : place.end_line]
