"""What a context pack is: cited pieces of a repository that answer one question inside a budget.

Every surface and every format shows one and the same `Pack`. Its items are whole lines, verbatim, each in
one section, in the order in which they are read.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from satchel.types import Suggestion

WORK_TREE = "worktree"  # the ref of what is read from disk


class Section(StrEnum):
    """What an item is there for. An item belongs to the first that fits."""

    DEFINITIONS = "definitions"
    KEY_USAGES = "key_usages"
    DEPENDENCIES = "dependencies"
    TESTS = "tests"
    CONFIG = "config"
    DOCS = "docs"


class Role(StrEnum):
    """Whether an item answers the question itself, or belongs to one that does."""

    PRIMARY = "primary"
    RELATED = "related"


class DropReason(StrEnum):
    """Why a candidate is not in the pack."""

    BUDGET = "budget"  # it did not fit into what was left
    CAP = "cap"  # its section was full
    LIMIT = "limit"  # there were items enough
    WEAK = "weak"  # it says little about the question


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """Lines `start_line` to `end_line` of a file, verbatim in `content`, and why they were chosen."""

    path: str
    start_line: int
    end_line: int
    content: str
    content_hash: str  # sha256 of these lines
    file_hash: str  # sha256 of the whole file
    ref: str  # a commit, or `worktree`
    chunk_id: str  # what `get` finds the chunk by that these lines are of; the locator if it is several
    kind: str
    symbol: str
    section: Section
    score: float
    role: Role = Role.PRIMARY
    language: str = ""
    reasons: tuple[str, ...] = ()  # the signals that chose it, strongest first
    imports: tuple[str, ...] = ()  # import lines of the file that the content needs
    relationship: tuple[str, ...] = ()  # of a related item: how it belongs to its primary one
    distance: int = 0
    redactions: int = 0

    @property
    def locator(self) -> str:
        return f"{self.path}:{self.start_line}:{self.end_line}"


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What was allowed and what the rendered pack takes. A limit of 0 was not given; characters are counted
    all the same, tokens are not."""

    tokenizer: str
    max_tokens: int = 0
    max_chars: int = 0
    used_tokens: int = 0
    used_chars: int = 0
    headroom_tokens: int = 0  # left free because the tokenizer estimates
    drawn: bool = True  # a format may draw how full it is; not where no number would be the size of that text


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the candidates: `selected + duplicates + the sum of dropped = candidates`.
    Duplicates are near-copies, and pieces that became part of another item. Of the selected, `cut` are not
    whole for want of room."""

    candidates: int = 0
    selected: int = 0
    cut: int = 0
    duplicates: int = 0
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    dropped_by_section: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def all_dropped(self) -> int:
        return sum(self.dropped.values())


class Trust(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far to believe the answer. An anchor is what the question names outright."""

    retrieval_mode: str
    fallback_used: bool
    anchor_detected: bool
    anchor_hits: int
    anchor_not_found: bool
    anchor_kind: str = ""
    anchor_primary: str = ""


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one question."""

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

    def of_section(self, section: Section) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.section is section)
