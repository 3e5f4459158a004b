"""Are the citations of a pack still true? Each is compared with its file; a text that is not there is looked
for in the rest of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from satchel.types import Skipped
from satchel.verifying.relocation import (
    CitedTree,
    Location,
    align,
    as_rows,
    chunk_of_name,
    current_location,
    find_elsewhere,
    find_in_file,
    is_text_at,
    location_of,
)
from satchel.verifying.saved_pack import Citation
from satchel.wording import counted


class State(StrEnum):
    """The result of checking a citation."""

    TRUE = "true"
    MOVED = "moved"  # the same text is at another location
    CHANGED = "changed"  # the lines hold another text now
    GONE = "gone"


class CitationCheck(msgspec.Struct, frozen=True):
    """A citation with its state. `now` is the location to read instead (None if there is none); `outside` are
    lines that the citation showed, that the file still has, and that are not in `now`."""

    citation: Citation
    state: State
    detail: str = ""
    now: Location | None = None
    outside: tuple[int, ...] = ()


def verify(citations: Iterable[Citation], tree_of: Callable[[str], CitedTree]) -> list[CitationCheck]:
    """Check each citation, in order. `tree_of` returns the files of a ref."""
    first = [_check_in_file(citation, tree_of(citation.ref)) for citation in citations]
    lost: dict[CitedTree, list[Citation]] = {}
    for check in first:
        if check.now is None:
            lost.setdefault(tree_of(check.citation.ref), []).append(check.citation)
    moved: dict[Citation, Location] = {}
    for tree, citations_of_tree in lost.items():
        moved |= find_elsewhere(citations_of_tree, tree)
    return [_completed(check, moved, tree_of) for check in first]


def _check_in_file(citation: Citation, tree: CitedTree) -> CitationCheck:
    """Check a citation against the file that it names."""
    source = tree.source(citation.path)
    if isinstance(source, Skipped):
        return CitationCheck(citation, State.GONE, source.detail or source.reason.value)
    location = _cited_location(citation)
    if is_text_at(citation, tree, location):
        if citation.shown is None or as_rows(citation.shown) == _rows(tree, location):
            return CitationCheck(citation, State.TRUE, now=location)
        return CitationCheck(citation, State.CHANGED, "the pack shows other text than these lines", location)
    if (found := find_in_file(citation, tree, citation.path)) is not None:
        return CitationCheck(citation, State.MOVED, f"now at {found}", found)
    count = len(tree.lines(citation.path))
    if citation.end_line > count:
        return CitationCheck(citation, State.GONE, f"the file has {counted(count, 'line')} now")
    return CitationCheck(citation, State.CHANGED, "these lines read otherwise now")


def _completed(
    check: CitationCheck, moved: dict[Citation, Location], tree_of: Callable[[str], CitedTree]
) -> CitationCheck:
    """Complete a check with what other files and the names in the index tell."""
    citation = check.citation
    if check.now is not None:
        return check
    if citation in moved:
        return CitationCheck(citation, State.MOVED, f"now at {moved[citation]}", moved[citation])
    tree = tree_of(citation.ref)
    if not tree.lines(citation.path):
        return check
    return _completed_by_name(check, tree)


def _completed_by_name(check: CitationCheck, tree: CitedTree) -> CitationCheck:
    """Complete the check of a text that is nowhere as it was: find the lines that it has become."""
    citation = check.citation
    rows = tree.rows(citation.path)
    index = tree.index()
    known = [] if index is None or index.file(citation.path) is None else index.chunks(citation.path)
    # The index may be older or newer than the file as read.
    chunks = [chunk for chunk in known if chunk.end_line <= len(rows)]
    named = chunk_of_name(citation, chunks)
    aligned = None if citation.shown is None else align(as_rows(citation.shown), rows)
    location = current_location(citation, aligned, named, chunks)
    if location is None:
        return check if check.state is State.GONE else replace(check, now=_cited_location(citation))
    detail = check.detail
    if named is not None:
        detail += f"; {named.kind.value} {citation.symbol} is at {location_of(named)}"
    shared = aligned.shared if aligned is not None else ()
    outside = tuple(line for line in shared if not location.holds(line))
    return CitationCheck(citation, State.CHANGED, detail, location, outside)


def _cited_location(citation: Citation) -> Location:
    return Location(citation.path, citation.start_line, citation.end_line)


def _rows(tree: CitedTree, location: Location) -> list[str]:
    return tree.rows(location.path)[location.start_line - 1 : location.end_line]
