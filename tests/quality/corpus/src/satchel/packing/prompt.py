"""The block to paste into a system prompt: digest, index, and how to fetch, inside a token budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from satchel.errors import InvalidBudget
from satchel.packing.digest import score_chunk
from satchel.packing.layers import IndexEntry, LayeredPack

_HOW = "Fetch the exact text of an entry by its id: satchel get ID (or the tool `get`). Cite ids in answers."


@dataclass(frozen=True, slots=True)
class Prompt:
    """The rendered block, how many index entries it shows and how many it only counts."""

    text: str
    shown: int
    summarised: int


def build_prompt(pack: LayeredPack, budget: int, count: Callable[[str], int]) -> Prompt:
    """As much of the index as fits; what does not is counted per folder, never dropped silently."""
    ranked = sorted(
        range(len(pack.index)), key=lambda position: (-_relevance(pack.index[position]), position)
    )
    low, high = 0, len(ranked)
    least = _render(pack, set(), with_digest=False)
    if count(least) > budget:
        raise InvalidBudget(
            f"the budget is {budget} tokens, the shortest prompt for {pack.segment} takes {count(least)}",
            hint=f"use --budget-tokens {count(least)} or more",
            details={"min_tokens": count(least)},
        )
    with_digest = count(_render(pack, set(), with_digest=True)) <= budget
    while low < high:
        middle = (low + high + 1) // 2
        if count(_render(pack, set(ranked[:middle]), with_digest)) <= budget:
            low = middle
        else:
            high = middle - 1
    text = _render(pack, set(ranked[:low]), with_digest)
    return Prompt(text, low, len(ranked) - low)


def _relevance(entry: IndexEntry) -> int:
    title = entry.title_path[-1] if entry.title_path else "Introduction"
    return score_chunk(title, entry.heading_level, entry.preview)


def _render(pack: LayeredPack, shown: set[int], with_digest: bool) -> str:
    rows = [f"# Context of {pack.segment}", "", _HOW, ""]
    if with_digest:
        rows += ["## Digest", *(f"- {entry.doc}: {entry.summary}" for entry in pack.digest), ""]
    rows.append("## Index")
    rows += [_index_line(entry) for position, entry in enumerate(pack.index) if position in shown]
    hidden = [entry for position, entry in enumerate(pack.index) if position not in shown]
    rows += _counts(hidden)
    return "\n".join(rows) + "\n"


def _index_line(entry: IndexEntry) -> str:
    title = " > ".join(" ".join(part.split()) for part in entry.title_path) or "Introduction"
    return f"- {entry.id} · {title} · ~{entry.token_est}"


def _counts(hidden: Sequence[IndexEntry]) -> list[str]:
    """One line per top folder, or one for all when even those would be many."""
    folders = Counter(
        entry.source_path.partition("/")[0] if "/" in entry.source_path else "." for entry in hidden
    )
    if len(folders) > 12:
        return [f"- … {len(hidden)} more entries in {len(folders)} folders: satchel search finds them"]
    return [f"- … {number} more entries in {folder}/" for folder, number in sorted(folders.items())]
