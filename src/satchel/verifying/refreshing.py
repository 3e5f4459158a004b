"""A pack that is out of date → the pack as of now, with the same items: citations that moved get their new
lines, changed ones the text of now, lost ones are left out, and the budget of the pack is held.

The pack is not made anew from its query. Formats for reading store only the start of a long query; no format
stores the filters; the pack of a change cites two commits and has no query. And a new pack has other items:
of seven packs of click and cobra, refreshed over 60 commits, a new pack of the same query left out 5 to 38 %
of the lines that the refreshed pack still cites.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from satchel import ids
from satchel.packing.budget import Gauge, Size
from satchel.packing.pack import Budget, Counts, Item, Pack, Role
from satchel.packing.sections import Section
from satchel.tokenizers import Tokenizer
from satchel.types import LineRange, Source
from satchel.verifying.relocation import CitedTree, Location
from satchel.verifying.saved_pack import Citation, CitedPack
from satchel.verifying.verification import CitationCheck, State

TreeOf = Callable[[str], CitedTree]  # the files of a ref
_SECTIONS = frozenset(Section)
_NAMED_LINES = 5  # line numbers that a message lists before it says that there are more
_Entry = TypeVar("_Entry")


class RefreshedPack(NamedTuple):
    """The new text of a pack, and a line for each text that is no longer in it, with the reason."""

    text: str
    left_out: list[str]


class KeptCitation(NamedTuple):
    """A citation that stays in the pack, its location now, and whether its text was rewritten."""

    citation: Citation
    location: Location
    changed: bool


def kept_citations(checks: list[CitationCheck]) -> tuple[list[KeptCitation | None], list[str]]:
    """Return for each citation what stays of it (None: nothing), and the reasons of those that do not stay.
    Citations that have come to mean the same lines stay once."""
    kept: list[KeptCitation | None] = []
    left_out: list[str] = []
    seen: set[tuple[Location, str]] = set()
    for check in checks:
        citation, now = check.citation, check.now
        if now is not None and (now, citation.ref) not in seen:
            seen.add((now, citation.ref))
            kept.append(KeptCitation(citation, now, check.state is State.CHANGED))
            continue
        kept.append(None)
        reason = "the same lines as another item" if now else check.detail
        left_out.append(f"{citation.locator}: {reason}")
    return kept, left_out


def lost_lines(checks: list[CitationCheck], held: Collection[tuple[Location, str]]) -> list[str]:
    """Return a message for each item that stays in the pack but no longer shows some of its old lines,
    although the file still has them: no text leaves a pack unsaid. `held` are the locations of the items that
    stay, with their refs."""
    messages = []
    for check in checks:
        ref, path = check.citation.ref, check.citation.path
        if check.now is None or (check.now, ref) not in held:
            continue
        shown = [location for location, other in held if (location.path, other) == (path, ref)]
        lines = [line for line in check.outside if not any(location.holds(line) for location in shown)]
        if lines:
            named = ", ".join(map(str, lines[:_NAMED_LINES])) + (", …" if len(lines) > _NAMED_LINES else "")
            messages.append(
                f"{check.citation.locator}: {len(lines)} of its lines now stand apart, at {named}"
            )
    return messages


def over_budget(locator: str) -> str:
    """Return the message for an item that was left out because the pack became too large."""
    return f"{locator}: it does not fit the budget any more"


def drop_until_fits(
    entries: list[_Entry], changed: Callable[[_Entry], bool], fits: Callable[[list[_Entry]], bool]
) -> tuple[list[_Entry], list[_Entry]]:
    """Return the entries that fit, and the dropped ones. Entries with changed text are dropped first, and
    among equals the last one, which the pack's own order calls the least useful."""
    dropped: list[_Entry] = []
    while entries and not fits(entries):
        number = max(range(len(entries)), key=lambda number: (changed(entries[number]), number))
        dropped.append(entries[number])
        entries = entries[:number] + entries[number + 1 :]
    return entries, dropped


def refresh_text(
    cited: CitedPack,
    checks: list[CitationCheck],
    tree_of: TreeOf,
    render: Callable[[Pack], str],
    tokenizer: Tokenizer,
) -> RefreshedPack:
    """Render the pack of a text format again, with its citations as of now, inside its budget."""
    gauge = Gauge(
        render,
        tokenizer,
        max_tokens=cited.max_tokens,
        max_chars=cited.max_chars,
        headroom_tokens=cited.headroom_tokens,
    )
    kept, left_out = kept_citations(checks)
    pairs = [(_item(one, tree_of(one.citation.ref)), one.changed) for one in kept if one is not None]

    def sealed(pairs: list[tuple[Item, bool]]) -> Pack:
        return gauge.sealed(_pack(cited, tuple(item for item, _ in pairs)))

    def fits(pairs: list[tuple[Item, bool]]) -> bool:
        budget = sealed(pairs).budget
        return gauge.fits(Size(budget.used_tokens, budget.used_chars))

    pairs, dropped = drop_until_fits(pairs, lambda pair: pair[1], fits)
    held = {(Location(item.path, item.start_line, item.end_line), item.ref) for item, _ in pairs}
    left_out += [over_budget(item.locator) for item, _ in dropped]
    return RefreshedPack(render(sealed(pairs)), left_out + lost_lines(checks, held))


def _item(kept: KeptCitation, tree: CitedTree) -> Item:
    citation, location, _ = kept
    source = tree.source(location.path)
    assert isinstance(source, Source)
    text = tree.text(location)
    related = bool(citation.relationship or citation.distance)
    return Item(
        path=location.path,
        start_line=location.start_line,
        end_line=location.end_line,
        content=text,
        content_hash=ids.hash_text(text),
        file_hash=source.file_hash,
        ref=citation.ref,
        chunk_id=f"{location.path}:{location.start_line}:{location.end_line}",
        kind=citation.kind,
        symbol=citation.symbol,
        section=Section(citation.section) if citation.section in _SECTIONS else Section.DEFINITIONS,
        score=citation.score,
        role=Role.RELATED if related else Role.PRIMARY,
        language=source.language,
        reasons=citation.reasons,
        relationship=citation.relationship,
        distance=citation.distance,
        redactions=sum(map(location.holds, source.redactions)),
        changed=_moved_lines(citation, location),
    )


def _moved_lines(citation: Citation, location: Location) -> tuple[LineRange, ...]:
    """Return the changed lines of a review where they are now; none if there are more or fewer lines."""
    by = location.start_line - citation.start_line
    if location.end_line - citation.end_line != by:
        return ()
    return tuple((first + by, last + by) for first, last in citation.changed)


def _pack(cited: CitedPack, items: tuple[Item, ...]) -> Pack:
    """Return the saved pack with other items. The budget keeps the name of the tokenizer that the pack
    states, also where another one counts."""
    counts = cited.counts or Counts()
    candidates = len(items) + counts.duplicates + counts.all_dropped
    budget = Budget(
        tokenizer=cited.tokenizer,
        max_tokens=cited.max_tokens,
        max_chars=cited.max_chars,
        headroom_tokens=cited.headroom_tokens,
    )
    return Pack(
        query=cited.query,
        ref=cited.ref,
        mode="",
        model_id="",
        profile="",
        items=items,
        budget=budget,
        counts=replace(counts, candidates=candidates, selected=len(items)),
        next_queries=cited.next_queries,
        hints=cited.hints,
    )
