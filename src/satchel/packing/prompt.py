"""The text to paste into a system prompt: digest, index, and how to fetch chunks, inside a token budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from satchel.errors import InvalidBudget
from satchel.packing.layers import IndexEntry, LayeredPack, score_chunk
from satchel.wording import counted

_MOST_FOLDERS = 12  # that get a line of their own; each takes a line that an entry could have
_HOW = "Fetch the exact text of an entry by its id: satchel get ID (or the tool `get`). Cite ids in answers."


@dataclass(frozen=True, slots=True)
class Prompt:
    """The rendered text, and how many index entries and digest lines it shows or only counts."""

    text: str
    shown: int
    summarised: int
    digests_shown: int
    digests_summarised: int


def build_prompt(pack: LayeredPack, budget: int, count: Callable[[str], int]) -> Prompt:
    """Return the prompt of a pack: its digest, and as much of its index as fits.

    A digest that is too long gets half of the budget. What does not fit is counted, entries of the index per
    folder; nothing is dropped silently.
    """
    ranked = sorted(
        range(len(pack.index)), key=lambda position: (-_relevance(pack.index[position]), position)
    )
    nearest = sorted(
        range(len(pack.digest)), key=lambda position: (pack.digest[position].doc.count("/"), position)
    )

    folders = 0

    def text(digests: int, entries: int) -> str:
        return _render(pack, set(nearest[:digests]), set(ranked[:entries]), folders)

    least = text(0, 0)
    if count(least) > budget:
        raise InvalidBudget(
            f"the budget is {budget} tokens, the shortest prompt for {pack.segment} takes {count(least)}",
            hint=f"use a budget of {counted(count(least), 'token')} or more",
            details={"min_tokens": count(least)},
        )
    folders = _most(_MOST_FOLDERS, lambda number: count(_render(pack, set(), set(), number)) <= budget // 3)
    digests = len(nearest)
    if count(text(digests, 0)) > budget:
        digests = _most(digests, lambda number: count(text(number, 0)) <= budget // 2)
    entries = _most(len(ranked), lambda number: count(text(digests, number)) <= budget)
    return Prompt(text(digests, entries), entries, len(ranked) - entries, digests, len(nearest) - digests)


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to a limit that fits; 0 if none does."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _relevance(entry: IndexEntry) -> int:
    title = entry.title_path[-1] if entry.title_path else "Introduction"
    return score_chunk(title, entry.heading_level, entry.preview)


def _render(pack: LayeredPack, digests: set[int], entries: set[int], folders: int) -> str:
    rows = [f"# Context of {pack.segment}", "", _HOW, "", "## Digest"]
    told = (entry for position, entry in enumerate(pack.digest) if position in digests)
    rows += [f"- {entry.doc}: {entry.summary}" for entry in told]
    if len(digests) < len(pack.digest):
        rows.append(f"- … {counted(len(pack.digest) - len(digests), 'more document')}")
    rows += ["", "## Index"]
    rows += [_index_line(entry) for position, entry in enumerate(pack.index) if position in entries]
    rows += _counts([entry for position, entry in enumerate(pack.index) if position not in entries], folders)
    return "\n".join(rows) + "\n"


def _index_line(entry: IndexEntry) -> str:
    title = " > ".join(" ".join(part.split()) for part in entry.title_path) or "Introduction"
    return f"- {entry.id} · {title} · ~{entry.token_est}"


def _counts(hidden: Sequence[IndexEntry], most: int) -> list[str]:
    """Return a line for each of the `most` top folders that hold most hidden entries, and one for the
    others."""
    folders = Counter(
        entry.source_path.partition("/")[0] if "/" in entry.source_path else "." for entry in hidden
    )
    largest = sorted(folders.items(), key=lambda item: (-item[1], item[0]))
    rows = [
        f"- … {counted(number, 'more entry', 'more entries')} in {folder}/"
        for folder, number in sorted(largest[:most])
    ]
    if rest := largest[most:]:
        others = f"{len(rest)} other folder{'' if len(rest) == 1 else 's'}" if rows else "all folders"
        rows.append(f"- … {sum(number for _, number in rest)} more entries in {others}")
    return rows
