"""A pack that is not true any more → the pack as of now: moved citations with their new lines, changed ones
with the text of now, gone ones left out, its budget held."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from satchel import ids
from satchel.packing.budget import Size, state_own_size, stating
from satchel.packing.pack import Budget, Counts, Item, Pack, Role, Section
from satchel.types import Source
from satchel.verifying.relocation import CitedTree, Location
from satchel.verifying.saved_pack import Citation, CitedPack
from satchel.verifying.verification import CitationCheck, State

TreeOf = Callable[[str], CitedTree]
Count = Callable[[str], int]
_SECTIONS = frozenset(Section)
_NAMED_LINES = 5
Part = TypeVar("Part")


class RefreshedPack(NamedTuple):
    """The new text, and what is no longer in it, each with the reason."""

    text: str
    left_out: list[str]


class KeptCitation(NamedTuple):
    """A citation that is still in the pack: its place of now, and whether its text is another one."""

    citation: Citation
    place: Location
    changed: bool


def kept(checks: list[CitationCheck]) -> tuple[list[KeptCitation | None], list[str]]:
    """What of each citation stays (None: nothing), and why the others do not. What has become the same lines
    stays once."""
    found: list[KeptCitation | None] = []
    left_out: list[str] = []
    seen: set[tuple[Location, str]] = set()
    for citation, state, detail, now in ((one.citation, one.state, one.detail, one.now) for one in checks):
        fresh = now is not None and (now, citation.ref) not in seen
        if now is not None and fresh:
            seen.add((now, citation.ref))
            found.append(KeptCitation(citation, now, state is State.CHANGED))
            continue
        found.append(None)
        left_out.append(f"{citation.locator}: {'the same lines as another item' if now else detail}")
    return found, left_out


def lost_lines(checks: list[CitationCheck], held: Collection[tuple[Location, str]]) -> list[str]:
    """What the items that stay in a pack (places of now, with their refs) no longer show of what they showed,
    although it is still in the file: no text leaves a pack unsaid."""
    told = []
    for one in checks:
        ref, path = one.citation.ref, one.citation.path
        if one.now is None or (one.now, ref) not in held:
            continue
        spans = [place for place, other in held if (place.path, other) == (path, ref)]
        lines = [line for line in one.outside if not any(_holds(span, line) for span in spans)]
        if lines:
            named = ", ".join(map(str, lines[:_NAMED_LINES])) + (", …" if len(lines) > _NAMED_LINES else "")
            told.append(f"{one.citation.locator}: {len(lines)} of its lines now stand apart, at {named}")
    return told


def _holds(span: Location, line: int) -> bool:
    return span.start_line <= line <= span.end_line


def hold_budget(
    parts: list[Part], changed: Callable[[Part], bool], fits: Callable[[list[Part]], bool]
) -> tuple[list[Part], list[Part]]:
    """The parts that fit, and those dropped for it: changed ones first, the last first."""
    dropped: list[Part] = []
    while parts and not fits(parts):
        place = max(range(len(parts)), key=lambda index: (changed(parts[index]), index))
        dropped.append(parts[place])
        parts = parts[:place] + parts[place + 1 :]
    return parts, dropped


def refresh_text(
    cited: CitedPack,
    checks: list[CitationCheck],
    tree_of: TreeOf,
    render: Callable[[Pack], str],
    count: Count,
) -> RefreshedPack:
    """A pack in a text format, rendered again."""
    found, left_out = kept(checks)
    pairs = [(_item(one, tree_of(one.citation.ref)), one.changed) for one in found if one is not None]

    def rendered(parts: list[tuple[Item, bool]]) -> tuple[str, Budget]:
        return _settled(_pack(cited, tuple(item for item, _ in parts)), render, count)

    def fits(parts: list[tuple[Item, bool]]) -> bool:
        _, budget = rendered(parts)
        tokens = not budget.max_tokens or budget.used_tokens + budget.headroom_tokens <= budget.max_tokens
        return tokens and (not budget.max_chars or budget.used_chars <= budget.max_chars)

    pairs, dropped = hold_budget(pairs, lambda pair: pair[1], fits)
    over = [f"{item.locator}: it does not fit the budget any more" for item, _ in dropped]
    held = {(Location(item.path, item.start_line, item.end_line), item.ref) for item, _ in pairs}
    return RefreshedPack(rendered(pairs)[0], left_out + over + lost_lines(checks, held))


def _item(one: KeptCitation, tree: CitedTree) -> Item:
    citation, place, _ = one
    source = tree.source(place.path)
    assert isinstance(source, Source)
    text = tree.text(place)
    related = bool(citation.relationship or citation.distance)
    return Item(
        path=place.path,
        start_line=place.start_line,
        end_line=place.end_line,
        content=text,
        content_hash=ids.hash_text(text),
        file_hash=source.file_hash,
        ref=citation.ref,
        chunk_id=f"{place.path}:{place.start_line}:{place.end_line}",
        kind=citation.kind,
        symbol=citation.symbol,
        section=Section(citation.section) if citation.section in _SECTIONS else Section.DEFINITIONS,
        score=citation.score,
        role=Role.RELATED if related else Role.PRIMARY,
        language=source.language,
        reasons=citation.reasons,
        relationship=citation.relationship,
        distance=citation.distance,
        redactions=sum(place.start_line <= line <= place.end_line for line in source.redactions),
    )


def _pack(cited: CitedPack, items: tuple[Item, ...]) -> Pack:
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


def _settled(pack: Pack, render: Callable[[Pack], str], count: Count) -> tuple[str, Budget]:
    """The text that states its own size, found as it was when the pack was made: a bar that grows may take
    fewer tokens, so the number can go down as well as up."""

    def measure(stated: Pack) -> Size:
        text = render(stated)
        return Size(count(text) if pack.budget.tokenizer else 0, len(text))

    full = stating(pack, Size(pack.budget.max_tokens, pack.budget.max_chars))
    settled = state_own_size(pack, measure, measure(full))
    return render(settled), settled.budget
