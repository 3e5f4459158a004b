"""`context_pack`: one question in, flat cited items out, inside a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel import plugins, tokenizers
from satchel.commands.command import (
    Command,
    GitName,
    LocalPath,
    OfWholeData,
    Positional,
    SaidInText,
    Verbatim,
)
from satchel.commands.freshness import IndexStateItem, index_state
from satchel.commands.limits import limits
from satchel.commands.shared import AGENT_TEXT, FilterFields, at_ref, trace_of
from satchel.commands.tool_results import counted_form, reserved
from satchel.errors import InvalidRequest
from satchel.packing.budget import Gauge
from satchel.packing.pack import Budget, Item, Pack, Trust
from satchel.packing.preferences import Preferences
from satchel.tokenizers.tokenizer import CharsPerToken
from satchel.types import AnchorPolicy, Counted, RelatedMode, ResponseMode, Strategy, Suggestion
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.engine import Engine

VERSION = 1
MOST_ITEMS = 100
DEFAULT_CHARS = 20_000
_STATE_SHARE = 8  # the state of a fresh index takes at most one part in so many of the budget


class ContextPackRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[
        str, Meta(description="a question, an identifier, a path or an error text"), Positional()
    ]
    limit: Annotated[int, Meta(description="primary items at most (1 to 100)")] = 10
    max_chars: Annotated[
        int | None, Meta(description="characters the whole answer may take (20000 if no tokens are given)")
    ] = None
    budget_tokens: Annotated[int, Meta(description="tokens it may take; 0: no such limit")] = 0
    budget_counts: Annotated[
        Counted,
        Meta(description="what the budget counts: the data, the text for agents, or a tool's whole result"),
    ] = Counted.DATA
    reserve_tokens: Annotated[
        int, Meta(ge=0, description="tokens of the budget to leave free for what is sent with the answer")
    ] = 0
    tokenizer: Annotated[str, Meta(description="how tokens are counted"), LocalPath(or_name=True)] = (
        tokenizers.DEFAULT_BUDGET
    )
    prefer_code: Annotated[
        bool | None, Meta(description="code before documents, or after them (default: by question)")
    ] = None
    include_docs: Annotated[bool, Meta(description="take documents in")] = True
    related_mode: Annotated[
        RelatedMode | None,
        Meta(description="explore: all that belongs; focus: what has words of the question"),
    ] = None
    strategy: Annotated[Strategy, Meta(description="related items: direct none, extended 1 hop, deep 2")] = (
        Strategy.EXTENDED
    )
    max_related_per_primary: Annotated[int, Meta(description="related items for each primary one")] = 3
    ref: Annotated[str, Meta(description="answer from this commit, branch or tag"), GitName()] = ""
    trace: Annotated[bool, Meta(description="say what was done to answer")] = False
    anchor_policy: Annotated[
        AnchorPolicy, Meta(description="auto: say when what is named is not here; off: names are words")
    ] = AnchorPolicy.AUTO
    response_mode: Annotated[
        ResponseMode, Meta(description="facts, full (with a trace) or minimal (no state of the index)")
    ] = ResponseMode.FACTS


class ContextItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Verbatim lines. Related items say how they belong to a primary one, and how far away they are."""

    id: str
    role: str
    file: str
    start_line: int
    end_line: int
    symbol: Annotated[str, SaidInText()] = ""
    type: Annotated[str, SaidInText()] = ""
    score: float
    imports: Annotated[tuple[str, ...], Verbatim()]
    content: Annotated[str, Verbatim()]
    chunk_id: str
    content_hash: str
    relationship: Annotated[tuple[str, ...], SaidInText()] = ()
    distance: Annotated[int, SaidInText()] = 0
    ref: str = ""  # if it is another than that of the pack


class ContextBudget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`used_chars` is the length of the whole answer as compact JSON."""

    max_chars: int
    used_chars: Annotated[int, OfWholeData()]
    truncated: bool
    dropped_items: int
    max_tokens: int = 0
    used_tokens: Annotated[int, OfWholeData()] = 0
    headroom_tokens: int = 0
    tokenizer: str = ""


class ContextMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    index_state: IndexStateItem | None
    ref: str = ""
    trust: Trust | None = None
    hints: Annotated[tuple[str, ...], SaidInText()] = ()
    next_queries: Annotated[tuple[str, ...], SaidInText()] = ()
    trace: dict[str, Any] | None = None


class ContextPackResponse(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    query: Annotated[str, SaidInText()]
    model_id: str
    profile: str
    items: list[ContextItem]
    budget: ContextBudget
    meta: ContextMeta


def run(engine: Engine, request: ContextPackRequest) -> ContextPackResponse:
    """Answer a question about the code in one call, instead of many greps and file reads: the most relevant
    pieces of code and documents, each cited, inside a budget.

    Primary items answer the question; related ones are what they call, extend or contain, who calls them and
    what tests them. What is named in the question but not in the repository is said. The budget counts the
    whole answer.
    """
    default = 0 if request.budget_tokens else DEFAULT_CHARS
    max_chars = default if request.max_chars is None else request.max_chars
    _check(request)
    chars = max_chars if max_chars or not request.budget_tokens else None
    with at_ref(engine, request.ref) as chosen, limits(request.budget_tokens or None, chars) as most:
        minimal = request.response_mode is ResponseMode.MINIMAL
        state = None if minimal else _state(chosen)
        traced = request.trace or request.response_mode is ResponseMode.FULL
        trace = trace_of(chosen) if traced and not minimal else None

        def respond(pack: Pack) -> ContextPackResponse:
            return response_of(pack, _with_room(state, pack.budget), trace)

        gauge = Gauge(
            counted_form(request.budget_counts, respond, _as_agents_read),
            tokenizers.get(request.tokenizer),
            max_tokens=most.tokens,
            max_chars=most.chars,
            aside=reserved(request.reserve_tokens, most),
        )
        pack = chosen.question(request.query, request.filters()).flat(
            gauge,
            Preferences(
                prefer_code=request.prefer_code,
                include_docs=request.include_docs,
                related_mode=request.related_mode,
                strategy=request.strategy,
                limit=request.limit,
                max_related_per_primary=request.max_related_per_primary,
                anchors=request.anchor_policy is AnchorPolicy.AUTO,
            ),
        )
        if request.budget_counts is Counted.TEXT_AND_DATA:  # then the data says how large it is itself
            pack = gauge.counting(lambda pack: compact(respond(pack))).sealed(pack)
        return respond(pack)


def _as_agents_read(pack: Pack) -> str:
    """The text of an answer: the reasons of next queries are not in it."""
    queries = tuple(Suggestion(item.query, "") for item in pack.next_queries)
    text: str = plugins.load("renderer", AGENT_TEXT).render_flat(
        msgspec.structs.replace(pack, next_queries=queries)
    )
    return text


def _state(engine: Engine) -> IndexStateItem:
    """The state of the index without its generation: how often it was refreshed must not change what fits."""
    state = index_state(engine)
    return msgspec.structs.replace(state, index=msgspec.structs.replace(state.index, generation=0))


def _with_room(state: IndexStateItem | None, budget: Budget) -> IndexStateItem | None:
    """The state, where the budget that a pack states has room for it: in a small answer only a stale one is
    said."""
    room = budget.max_chars or budget.max_tokens * CharsPerToken.USUAL
    if state is None or state.stale or len(compact(state)) * _STATE_SHARE <= room:
        return state
    return None


def _check(request: ContextPackRequest) -> None:
    if not 1 <= request.limit <= MOST_ITEMS:
        raise InvalidRequest(f"limit is {request.limit}, it must be from 1 to {MOST_ITEMS}")
    if request.max_related_per_primary not in range(MOST_ITEMS + 1):
        raise InvalidRequest(
            f"max_related_per_primary is {request.max_related_per_primary}, it must be from 0 to {MOST_ITEMS}"
        )


def response_of(
    pack: Pack, state: IndexStateItem | None = None, trace: dict[str, Any] | None = None
) -> ContextPackResponse:
    """A pack in the shape of this command. Where there is no room for a state, trust is said if it is low."""
    budget = pack.budget
    doubted = pack.trust is not None and pack.trust.anchor_not_found
    return ContextPackResponse(
        version=VERSION,
        query=pack.query,
        model_id=pack.model_id,
        profile=pack.profile,
        items=[_item(item, pack.ref) for item in pack.items],
        budget=ContextBudget(
            max_chars=budget.max_chars,
            used_chars=budget.used_chars,
            truncated=bool(pack.counts.dropped.get("budget") or pack.counts.cut),
            dropped_items=pack.counts.all_dropped,
            max_tokens=budget.max_tokens,
            used_tokens=budget.used_tokens if budget.max_tokens else 0,
            headroom_tokens=budget.headroom_tokens,
            tokenizer=budget.tokenizer if budget.max_tokens else "",
        ),
        meta=ContextMeta(
            index_state=state,
            ref=pack.ref,
            trust=pack.trust if state or doubted else None,
            hints=pack.hints,
            next_queries=tuple(item.query for item in pack.next_queries),
            trace=trace,
        ),
    )


def _item(item: Item, pack_ref: str) -> ContextItem:
    return ContextItem(
        id=item.locator,
        role=item.role.value,
        file=item.path,
        start_line=item.start_line,
        end_line=item.end_line,
        symbol=item.symbol,
        type=item.kind,
        score=item.score,
        imports=item.imports,
        content=item.content,
        chunk_id=item.chunk_id,
        content_hash=item.content_hash,
        relationship=item.relationship,
        distance=item.distance,
        ref=item.ref if item.ref != pack_ref else "",
    )


COMMAND = Command(
    "context_pack",
    ContextPackRequest,
    ContextPackResponse,
    run,
    counted=True,
    tool="context_pack",
    tool_fields=frozenset(
        {
            "file_pattern",
            "language",
            "prefer_code",
            "include_docs",
            "related_mode",
            "strategy",
            "limit",
            "max_chars",
        }
    ),
)
