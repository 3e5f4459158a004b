"""`satchel search`: the chunks that answer a query, with paths and lines to cite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Flag, Group, Verbatim
from satchel.commands.shared import FilterFields, QueryText
from satchel.types import Hit

if TYPE_CHECKING:
    from satchel.engine import Engine


class SearchRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: QueryText
    k: Annotated[int, Meta(description="hits at most (1 to 1000)"), Flag("-k"), Flag("--limit")] = 10
    explain: Annotated[bool, Meta(description="say what each hit's score is made of")] = False


class ReasonItem(msgspec.Struct, frozen=True):
    """A part of a score: the signal, its strength (mostly 0 to 1), and its worth."""

    signal: str
    strength: float
    score: float


class SearchHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A chunk: `path`, `start_line` and `end_line` cite it, `snippet` is verbatim text of it."""

    id: str
    path: str
    start_line: int
    end_line: int
    kind: str
    name: str
    score: float
    snippet: Annotated[str, Verbatim()]
    reasons: tuple[ReasonItem, ...] = ()
    ref: str = ""  # of a library: the repository and its commit, `NAME@COMMIT`, or `NAME@worktree`


class SuggestionItem(msgspec.Struct, frozen=True):
    """A next search that this index can answer."""

    query: str
    reason: str


class SearchResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    query: str
    hits: list[SearchHit]
    suggestions: list[SuggestionItem] = msgspec.field(default_factory=list)


def run(engine: Engine, request: SearchRequest) -> SearchResponse:
    """Find code and documents by meaning, name or path, where grep would need the exact words; each hit has
    an id, a path and lines to cite.

    Ask in words ("where are sessions stored"), by identifier, by path, or with a pasted message. When
    nothing is found, searches that find something are proposed.
    """
    hits, suggestions = engine.search(request.query, request.k, request.filters(), explain=request.explain)
    return SearchResponse(
        query=request.query,
        hits=[_item(hit, engine.repository_ref(hit.path)) for hit in hits],
        suggestions=[SuggestionItem(item.query, item.reason) for item in suggestions],
    )


def _item(hit: Hit, ref: str) -> SearchHit:
    """Return a hit as the response has it."""
    return SearchHit(
        id=hit.id,
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        kind=hit.kind.value,
        name=hit.name,
        score=hit.score,
        snippet=hit.snippet,
        reasons=tuple(ReasonItem(reason.signal, reason.strength, reason.score) for reason in hit.reasons),
        ref=ref,
    )


COMMAND = Command("search", SearchRequest, SearchResponse, run, tool="search", group=Group.ASK)
