"""`context_pack`: one question in, flat cited items out, inside a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import (
    Command,
    OfWholeData,
    SaidInText,
    Verbatim,
)
from satchel.commands.freshness import IndexStateItem, index_state, short_state
from satchel.commands.shared import (
    AGENT_TEXT,
    BudgetCounts,
    CommitName,
    FilterFields,
    QueryText,
    ReserveTokens,
    TokenizerName,
    WithTrace,
    at_ref,
    trace_of,
)
from satchel.commands.tool_results import packed_response
from satchel.errors import InvalidBudget
from satchel.pack_request import PackLayout, PackRequest
from satchel.packing.budget import Size, named_minimum, too_small
from satchel.packing.pack import Item, Pack, Trust
from satchel.tokenizers import CharsPerToken
from satchel.types import AnchorPolicy, Counted, RelatedMode, ResponseMode, Strategy, Suggestion
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.commands.session import Session
    from satchel.engine import Engine

VERSION = 1
DEFAULT_CHARS = 20_000
_YIELDING = 0.9  # how fast the room for the state grows with the budget; below 1, so that items lose none
_TRUST_CHARS = 300  # about what is said of trust, beside the state
_STATE_SHARE = 8  # the state of a fresh index takes at most one part in so many of the budget


class ContextPackRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: QueryText
    limit: Annotated[int, Meta(description="primary items at most (1 to 100)")] = 10
    max_chars: Annotated[
        int | None, Meta(description="characters the whole answer may take (20000 if no tokens are given)")
    ] = None
    budget_tokens: Annotated[int, Meta(description="tokens it may take; 0: no such limit")] = 0
    budget_counts: BudgetCounts = Counted.DATA
    reserve_tokens: ReserveTokens = 0
    tokenizer: TokenizerName = tokenizers.DEFAULT_BUDGET
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
    ref: CommitName = ""
    trace: WithTrace = False
    anchor_policy: Annotated[
        AnchorPolicy, Meta(description="auto: say when what is named is not here; off: names are words")
    ] = AnchorPolicy.AUTO
    response_mode: Annotated[
        ResponseMode, Meta(description="facts, full (with a trace) or minimal (strictly Context Pack v1)")
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
    chunk_id: str = ""  # a minimal answer has neither this nor the hash
    content_hash: str = ""
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


def run(session: Session, request: ContextPackRequest) -> ContextPackResponse:
    """Answer a question about the code in one call, instead of many greps and file reads: the most relevant
    pieces of code and documents, each cited, inside a budget.

    Primary items answer the question; related ones are what they call, extend or contain, who calls them and
    what tests them. What is named in the question but not in the repository is said. The budget counts the
    whole answer.
    """
    return flat_response(
        session,
        _pack_request(request),
        ref=request.ref,
        trace=request.trace,
        mode=request.response_mode,
        counts=request.budget_counts,
    )


def flat_response(
    session: Session,
    asked: PackRequest,
    *,
    ref: str,
    trace: bool,
    mode: ResponseMode = ResponseMode.FACTS,
    counts: Counted = Counted.DATA,
) -> ContextPackResponse:
    """Return the flat pack that is asked for, of the work tree or of `ref`, in the shape of this command."""

    def make(asked: PackRequest) -> ContextPackResponse:
        return _respond(session, asked, ref=ref, trace=trace, mode=mode, counts=counts)

    try:
        return make(asked)
    except InvalidBudget as error:
        raise _with_tried_minimum(error, asked, make) from None


def _with_tried_minimum(
    error: InvalidBudget, asked: PackRequest, make: Callable[[PackRequest], object]
) -> InvalidBudget:
    """Return the error with a least budget that was tried: what is kept free for the state of the index grows
    with the budget, so the first one that is named may be too small."""
    given = Size(asked.budget_tokens or 0, asked.max_chars or 0)
    least = given.joined(named_minimum(error))
    while True:
        larger = msgspec.structs.replace(
            asked, budget_tokens=least.tokens or None, max_chars=least.chars or None
        )
        try:
            make(larger)
        except InvalidBudget as further:
            if least.holds(named_minimum(further)):  # no budget is enough
                return error
            least = least.joined(named_minimum(further))
        else:
            return too_small(given, least) if least != given else error


def _respond(
    session: Session, asked: PackRequest, *, ref: str, trace: bool, mode: ResponseMode, counts: Counted
) -> ContextPackResponse:
    """Return the answer to a request whose budget holds it."""
    with at_ref(session.engine, ref) as engine:
        minimal = mode is ResponseMode.MINIMAL
        # Where the text for agents is counted, it is written from the data, and needs all of it.
        strict = minimal and counts is Counted.DATA
        state, asked = (None, asked) if minimal else _with_room(_state(engine), asked)
        traced = (trace or mode is ResponseMode.FULL) and not minimal
        told = trace_of(engine) if traced else None

        def respond(pack: Pack) -> ContextPackResponse:
            answer = response_of(pack, state, told)
            return _strict(answer) if strict else answer

        def agent_text(pack: Pack) -> str:
            """Return the text of an answer, in which next queries have no reasons."""
            queries = tuple(Suggestion(item.query, "") for item in pack.next_queries)
            render = session.formats.get(AGENT_TEXT).render_flat
            assert render is not None
            return render(msgspec.structs.replace(pack, next_queries=queries))

        return packed_response(engine, asked, counts, respond, agent_text)


def _pack_request(request: ContextPackRequest) -> PackRequest:
    """Return what is asked of the engine. Characters are counted unless only tokens are given; a limit of 0
    beside another one is none."""
    chars = request.max_chars
    if chars is None and not request.budget_tokens:
        chars = DEFAULT_CHARS
    return PackRequest(
        query=request.query,
        filters=request.filters(),
        layout=PackLayout.FLAT,
        budget_tokens=request.budget_tokens or None,
        max_chars=chars or None if request.budget_tokens else chars,
        reserve_tokens=request.reserve_tokens,
        tokenizer=request.tokenizer,
        limit=request.limit,
        prefer_code=request.prefer_code,
        include_docs=request.include_docs,
        related_mode=request.related_mode,
        strategy=request.strategy,
        max_related_per_primary=request.max_related_per_primary,
        say_absent_names=request.anchor_policy is AnchorPolicy.AUTO,
    )


def _state(engine: Engine) -> IndexStateItem:
    """Return the state of the index without its generation: how often it was refreshed must not change what
    fits."""
    return short_state(index_state(engine))


def _with_room(state: IndexStateItem, asked: PackRequest) -> tuple[IndexStateItem | None, PackRequest]:
    """Return the state if the budget has room for it (a small answer has only a stale one), and the request.
    Where the budget is only a little too small, the request keeps room free, more of it the larger the budget
    is: so the answer that has the state shows no less than a smaller one without it."""
    tokens = asked.budget_tokens or 0
    room = asked.max_chars or tokens * CharsPerToken.USUAL
    size = len(compact(state))
    if state.stale or size * _STATE_SHARE <= room:
        return state, asked
    short_by = size * _STATE_SHARE - room
    kept_free = max(0.0, size + _TRUST_CHARS - _YIELDING * short_by)
    reserve = math.ceil(kept_free / (CharsPerToken.DENSE if tokens else CharsPerToken.USUAL))
    return None, msgspec.structs.replace(asked, reserve_tokens=asked.reserve_tokens + reserve)


def response_of(
    pack: Pack, state: IndexStateItem | None = None, trace: dict[str, Any] | None = None
) -> ContextPackResponse:
    """Return a pack in the shape of this command. Without room for a state, trust is said if it is low."""
    budget = pack.budget
    doubted = pack.trust is not None and pack.trust.anchor_not_found
    return ContextPackResponse(
        version=VERSION,
        query=pack.stated_query,
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


def _strict(answer: ContextPackResponse) -> ContextPackResponse:
    """Return an answer without the keys that we add to Context Pack v1: its published schema is closed."""
    budget, meta = answer.budget, answer.meta
    replace = msgspec.structs.replace
    return replace(
        answer,
        items=[replace(item, chunk_id="", content_hash="", ref="") for item in answer.items],
        budget=ContextBudget(
            max_chars=budget.max_chars,
            used_chars=budget.used_chars,
            truncated=budget.truncated,
            dropped_items=budget.dropped_items,
        ),
        meta=ContextMeta(index_state=None, trust=meta.trust),
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
    takes_session=True,
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
            "ref",
        }
    ),
)
