"""`build_context_pack`: one question in, six sections of cited pieces out, inside a token budget."""

from __future__ import annotations

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
from satchel.pack_request import DEFAULT_TOKENS, PackRequest
from satchel.packing.pack import Item, Pack
from satchel.packing.sections import PackMode, Section
from satchel.types import Counted, LineRange

if TYPE_CHECKING:
    from satchel.commands.session import Session


class BuildContextPackRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: QueryText
    ref: CommitName = ""
    budget_tokens: Annotated[int, Meta(description="tokens the whole answer may take (1 to 200000)")] = (
        DEFAULT_TOKENS
    )
    max_chars: Annotated[int, Meta(description="characters it may take as well; 0: no such limit")] = 0
    budget_counts: BudgetCounts = Counted.DATA
    reserve_tokens: ReserveTokens = 0
    max_candidates: Annotated[int, Meta(description="pieces that are considered (1 to 1000)")] = 72
    mode: Annotated[PackMode, Meta(description="full, or edit_minimal: little beside definitions")] = (
        PackMode.FULL
    )
    section_caps: Annotated[
        dict[str, int], Meta(description="pieces a section may have before others, as definitions=4,tests=0")
    ] = msgspec.field(default_factory=dict)
    tokenizer: TokenizerName = tokenizers.DEFAULT_BUDGET
    trace: WithTrace = False


class Snippet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines `line_start` to `line_end`, verbatim; `content_hash` is their sha256, `file_hash` the file's. In
    a review, `changed_lines` are first and last lines of what was added, or of what was removed."""

    snippet_id: str
    ref: Annotated[str, SaidInText()]
    path: str
    line_start: int
    line_end: int
    content_hash: str
    file_hash: str
    selection_reason: Annotated[tuple[str, ...], OfWholeData()]
    content: Annotated[str, Verbatim()]
    kind: Annotated[str, SaidInText()] = ""
    symbol: Annotated[str, SaidInText()] = ""
    score: float = 0.0
    redactions: int = 0
    changed_lines: tuple[LineRange, ...] = ()


class Sections(msgspec.Struct, frozen=True, kw_only=True):
    definitions: list[Snippet]
    key_usages: list[Snippet]
    dependencies: list[Snippet]
    tests: list[Snippet]
    config: list[Snippet]
    docs: list[Snippet]


class SectionCoverage(msgspec.Struct, frozen=True):
    """How many pieces of a section are in the pack, and how many were left out."""

    selected: int
    dropped: int


class NextQuery(msgspec.Struct, frozen=True):
    """A search that this index answers and the pack does not."""

    query: str
    reason: str


class PackMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`selected + duplicates + the sum of dropped = candidates`."""

    candidates: int
    selected: int
    duplicates: int
    dropped: dict[str, int]
    tokenizer: str
    model_id: str
    profile: str
    anchor_not_found: bool = False
    headroom_tokens: int = 0
    max_chars: int = 0
    used_chars: Annotated[int, OfWholeData()] = 0
    trace: dict[str, Any] | None = None


class BuildContextPackResponse(msgspec.Struct, frozen=True, kw_only=True):
    query: Annotated[str, SaidInText()]
    ref: str
    mode: str
    budget_tokens: int
    token_budget_used: Annotated[int, OfWholeData()]
    sections: Sections
    coverage_summary: dict[str, SectionCoverage]
    suggested_next_queries: Annotated[list[NextQuery], SaidInText()]
    missing_context_hints: Annotated[tuple[str, ...], SaidInText()]
    metadata: PackMetadata


def run(session: Session, request: BuildContextPackRequest) -> BuildContextPackResponse:
    """Gather what a change needs before you edit, instead of opening file after file: definitions, usages,
    dependencies, tests, configuration and documents, each cited and hashed, inside a token budget.

    The budget counts the whole answer. What did not fit is counted, and what to ask next is said.
    """
    agent_text = session.formats.get(AGENT_TEXT).render
    with at_ref(session.engine, request.ref) as engine:
        trace = trace_of(engine) if request.trace else None

        def respond(pack: Pack) -> BuildContextPackResponse:
            return response_of(pack, trace)

        return packed_response(engine, _pack_request(request), request.budget_counts, respond, agent_text)


def _pack_request(request: BuildContextPackRequest) -> PackRequest:
    """Return what is asked of the engine. A budget of 0 tokens beside one of characters is none."""
    return PackRequest(
        query=request.query,
        filters=request.filters(),
        budget_tokens=request.budget_tokens if request.budget_tokens or not request.max_chars else None,
        max_chars=request.max_chars or None,
        reserve_tokens=request.reserve_tokens,
        tokenizer=request.tokenizer,
        mode=request.mode,
        section_caps=request.section_caps,
        max_candidates=request.max_candidates,
    )


def response_of(pack: Pack, trace: dict[str, Any] | None = None) -> BuildContextPackResponse:
    """Return a pack in the shape of this command."""
    counts, budget = pack.counts, pack.budget
    return BuildContextPackResponse(
        query=pack.stated_query,
        ref=pack.ref,
        mode=pack.mode,
        budget_tokens=budget.max_tokens,
        token_budget_used=budget.used_tokens,
        sections=Sections(
            **{name.value: [_snippet(item) for item in pack.of_section(name)] for name in Section}
        ),
        coverage_summary={
            name.value: SectionCoverage(
                len(pack.of_section(name)), counts.dropped_by_section.get(name.value, 0)
            )
            for name in Section
        },
        suggested_next_queries=[NextQuery(item.query, item.reason) for item in pack.next_queries],
        missing_context_hints=pack.hints,
        metadata=PackMetadata(
            candidates=counts.candidates,
            selected=counts.selected,
            duplicates=counts.duplicates,
            dropped=counts.dropped,
            tokenizer=budget.tokenizer,
            model_id=pack.model_id,
            profile=pack.profile,
            anchor_not_found=bool(pack.trust and pack.trust.anchor_not_found),
            headroom_tokens=budget.headroom_tokens,
            max_chars=budget.max_chars,
            used_chars=budget.used_chars if budget.max_chars else 0,
            trace=trace,
        ),
    )


def _snippet(item: Item) -> Snippet:
    return Snippet(
        snippet_id=item.chunk_id,
        ref=item.ref,
        path=item.path,
        line_start=item.start_line,
        line_end=item.end_line,
        content_hash=item.content_hash,
        file_hash=item.file_hash,
        selection_reason=item.reasons,
        content=item.content,
        kind=item.kind,
        symbol=item.symbol,
        score=item.score,
        redactions=item.redactions,
        changed_lines=item.changed,
    )


COMMAND = Command(
    "build_context_pack",
    BuildContextPackRequest,
    BuildContextPackResponse,
    run,
    counted=True,
    takes_session=True,
    tool="build_context_pack",
    tool_fields=frozenset({"ref"}),
)
