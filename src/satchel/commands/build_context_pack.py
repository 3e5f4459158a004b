"""`build_context_pack`: one question in, six sections of cited pieces out, inside a token budget."""

from __future__ import annotations

from collections.abc import Callable
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
from satchel.commands.limits import limits
from satchel.commands.shared import AGENT_TEXT, FilterFields, at_ref, trace_of
from satchel.commands.tool_results import counted_form, reserved
from satchel.errors import InvalidRequest
from satchel.packing.budget import Gauge
from satchel.packing.pack import Item, Pack, Section
from satchel.packing.sections import PackMode, caps_of
from satchel.types import Counted
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.engine import Engine

DEFAULT_TOKENS = 4_000
MOST_CANDIDATES = 1_000


class BuildContextPackRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[
        str, Meta(description="a question, an identifier, a path or an error text"), Positional()
    ]
    ref: Annotated[str, Meta(description="answer from this commit, branch or tag"), GitName()] = ""
    budget_tokens: Annotated[int, Meta(description="tokens the whole answer may take (1 to 200000)")] = (
        DEFAULT_TOKENS
    )
    max_chars: Annotated[int, Meta(description="characters it may take as well; 0: no such limit")] = 0
    budget_counts: Annotated[
        Counted,
        Meta(description="what the budget counts: the data, the text for agents, or a tool's whole result"),
    ] = Counted.DATA
    reserve_tokens: Annotated[
        int, Meta(ge=0, description="tokens of the budget to leave free for what is sent with the answer")
    ] = 0
    max_candidates: Annotated[int, Meta(description="pieces that are considered (1 to 1000)")] = 72
    mode: Annotated[PackMode, Meta(description="full, or edit_minimal: little beside definitions")] = (
        PackMode.FULL
    )
    section_caps: Annotated[
        dict[str, int], Meta(description="pieces a section may have before others, as definitions=4,tests=0")
    ] = msgspec.field(default_factory=dict)
    tokenizer: Annotated[str, Meta(description="how tokens are counted"), LocalPath(or_name=True)] = (
        tokenizers.DEFAULT_BUDGET
    )
    trace: Annotated[bool, Meta(description="say what was done to answer")] = False


class Snippet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines `line_start` to `line_end`, verbatim; `content_hash` is their sha256, `file_hash` the file's."""

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


def run(engine: Engine, request: BuildContextPackRequest) -> BuildContextPackResponse:
    """Gather what a change needs before you edit, instead of opening file after file: definitions, usages,
    dependencies, tests, configuration and documents, each cited and hashed, inside a token budget.

    The budget counts the whole answer. What did not fit is counted, and what to ask next is said.
    """
    with at_ref(engine, request.ref) as chosen:
        trace = trace_of(chosen) if request.trace else None

        def respond(pack: Pack) -> BuildContextPackResponse:
            return response_of(pack, trace)

        agent_text = plugins.load("renderer", AGENT_TEXT).render
        pack = sectioned(chosen, request, counted_form(request.budget_counts, respond, agent_text))
        if request.budget_counts is Counted.TEXT_AND_DATA:  # then the data says how large it is itself
            tokenizer = tokenizers.get(request.tokenizer)
            pack = Gauge(
                lambda pack: compact(respond(pack)),
                tokenizer,
                max_tokens=pack.budget.max_tokens,
                max_chars=pack.budget.max_chars,
            ).sealed(pack)
        return respond(pack)


def sectioned(engine: Engine, request: BuildContextPackRequest, render: Callable[[Pack], str]) -> Pack:
    """The pack of a request, in the format that it will be read in."""
    if not 1 <= request.max_candidates <= MOST_CANDIDATES:
        raise InvalidRequest(
            f"max_candidates is {request.max_candidates}, it must be from 1 to {MOST_CANDIDATES}"
        )
    caps = caps_of(request.mode, request.section_caps)
    tokenizer = tokenizers.get(request.tokenizer)
    tokens = request.budget_tokens if request.budget_tokens or not request.max_chars else None
    with limits(tokens, request.max_chars or None) as room:
        aside = reserved(request.reserve_tokens, room)
        gauge = Gauge(render, tokenizer, max_tokens=room.tokens, max_chars=room.chars, aside=aside)
        question = engine.question(request.query, request.filters())
        return question.sectioned(gauge, mode=request.mode, caps=caps, max_candidates=request.max_candidates)


def response_of(pack: Pack, trace: dict[str, Any] | None = None) -> BuildContextPackResponse:
    """A pack in the shape of this command."""
    counts, budget = pack.counts, pack.budget
    return BuildContextPackResponse(
        query=pack.query,
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
    )


COMMAND = Command(
    "build_context_pack",
    BuildContextPackRequest,
    BuildContextPackResponse,
    run,
    counted=True,
    tool="build_context_pack",
)
