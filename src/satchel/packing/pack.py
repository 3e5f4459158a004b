"""What a context pack is: cited passages of a repository that answer one query inside a budget.

Every surface and every format shows one and the same `Pack`. Its items are whole lines, verbatim, each in
one section, in the order in which they are read.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from satchel.packing.sections import Section
from satchel.types import LineRange, Suggestion

WORK_TREE = "worktree"  # the ref of what is read from disk
LIBRARY = (
    "library"  # the ref of a pack of several repositories, whose items have refs of their own: `NAME@COMMIT`
)
_STATED_CHARS = 400  # of a query; the caller of a pack knows the rest of a long report


class Role(StrEnum):
    """Whether an item answers the query itself, or is related to an item that does."""

    PRIMARY = "primary"
    RELATED = "related"


class DropReason(StrEnum):
    """Why a passage is not in the pack."""

    BUDGET = "budget"  # it did not fit into what was left
    CAP = "cap"  # its section was full
    LIMIT = "limit"  # there were items enough
    WEAK = "weak"  # it says little about the query


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that the pack shows: lines `start_line` to `end_line` of a file, verbatim in `content`."""

    path: str
    start_line: int
    end_line: int
    content: str
    content_hash: str  # sha256 of these lines
    file_hash: str  # sha256 of the whole file
    ref: str  # a commit, or `worktree`; in a pack of several repositories with the name of one before it
    chunk_id: str  # the id of the chunk that these lines are; their locator if they are not one whole chunk
    kind: str
    symbol: str
    section: Section
    score: float
    role: Role = Role.PRIMARY
    language: str = ""
    reasons: tuple[str, ...] = ()  # the signals that chose it, strongest first
    imports: tuple[str, ...] = ()  # import lines of the file that the content needs
    relationship: tuple[str, ...] = ()  # how a related item belongs to its primary one: `calls`, …
    distance: int = 0
    redactions: int = 0
    changed: tuple[LineRange, ...] = ()  # of a review: its lines that the change added or removed

    @property
    def locator(self) -> str:
        """Return the item in short: `path:first:last`, which `get` accepts."""
        return f"{self.path}:{self.start_line}:{self.end_line}"


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a pack and the size of its rendered text. A limit of 0 was not given: then characters are
    counted all the same, tokens are not."""

    tokenizer: str
    max_tokens: int = 0
    max_chars: int = 0
    used_tokens: int = 0
    used_chars: int = 0
    headroom_tokens: int = 0  # left free because the tokenizer estimates
    # Whether a format may draw how full the budget is. It must not where, with the drawing, no stated size
    # would be that of the text.
    drawn: bool = True


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """The number of passages that were considered, shown and left out, where `candidates` is `selected` plus
    `duplicates` plus the sum of `dropped`. Duplicates are near-copies, and passages that became part of
    another item. Of the selected, `cut` are not whole for want of room."""

    candidates: int = 0
    selected: int = 0
    cut: int = 0
    duplicates: int = 0
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    dropped_by_section: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def all_dropped(self) -> int:
        """Return the number of passages that were dropped for any reason."""
        return sum(self.dropped.values())


class Trust(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far the answer can be relied on. An anchor is a path, symbol or message that the query names."""

    retrieval_mode: str
    fallback_used: bool
    anchor_detected: bool
    anchor_hits: int
    anchor_not_found: bool
    anchor_kind: str = ""
    anchor_primary: str = ""


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one query."""

    query: str
    ref: str
    mode: str
    model_id: str
    profile: str
    items: tuple[Item, ...]
    budget: Budget
    counts: Counts
    trust: Trust | None = None
    next_queries: tuple[Suggestion, ...] = ()
    hints: tuple[str, ...] = ()  # what is missing, and how to get it

    @property
    def stated_query(self) -> str:
        """Return the query as data states it: of a long one the beginning, which leaves the budget to the
        answer."""
        is_long = len(self.query) > _STATED_CHARS
        return f"{self.query[:_STATED_CHARS].rstrip()}…" if is_long else self.query

    def of_section(self, section: Section) -> tuple[Item, ...]:
        """Return the items of one section."""
        return tuple(item for item in self.items if item.section is section)


def plain_text(pack: Pack) -> str:
    """Return a pack as citations and lines, with what there is to say of it. A budget counts this text where
    no format was chosen."""
    items = [f"{item.locator} {item.symbol}".rstrip() + f"\n{item.content}" for item in pack.items]
    queries = [f"{query.query}: {query.reason}" for query in pack.next_queries]
    headline = f"{pack.stated_query}: {len(pack.items)} items of {pack.ref}"
    return "\n".join([headline, *pack.hints, *items, *queries])
