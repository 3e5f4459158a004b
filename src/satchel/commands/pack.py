"""`pack`: a context pack in any format, of the work tree, of a commit, or of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel import plugins, tokenizers
from satchel.commands import build_context_pack, context_pack
from satchel.commands.build_context_pack import DEFAULT_TOKENS, BuildContextPackRequest
from satchel.commands.command import Command, GitName, LocalPath, Positional, Verbatim
from satchel.commands.limits import limits
from satchel.commands.shared import FilterFields, at_ref, trace_of
from satchel.errors import InvalidQuery, InvalidRequest
from satchel.packing.pack import Pack
from satchel.packing.sections import PackMode
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.engine import Engine

CONTEXT, FLAT = "context", "json"


class PackRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[
        str, Meta(description="a question, an identifier, a path or an error text"), Positional()
    ] = ""
    budget_tokens: Annotated[
        int | None, Meta(description=f"tokens the whole pack may take (default {DEFAULT_TOKENS})")
    ] = None
    max_chars: Annotated[int | None, Meta(description="characters it may take, instead or as well")] = None
    tokenizer: Annotated[
        str,
        Meta(description="o200k, cl100k, claude, chars4 or the path of a tokenizer.json"),
        LocalPath(or_name=True),
    ] = tokenizers.DEFAULT_BUDGET
    format: Annotated[
        str,
        Meta(description="terminal (default on one), context (for agents), markdown, xml, json or sections"),
    ] = CONTEXT
    ref: Annotated[str, Meta(description="answer from this commit, branch or tag"), GitName()] = ""
    diff: Annotated[
        str, Meta(description="pack a change for review: A..B, A...B, or A up to the work tree"), GitName()
    ] = ""
    staged: Annotated[bool, Meta(description="pack what is staged, for review")] = False
    changed: Annotated[bool, Meta(description="pack what differs from HEAD, for review")] = False
    mode: Annotated[PackMode, Meta(description="full, or edit_minimal: little beside definitions")] = (
        PackMode.FULL
    )
    section_caps: Annotated[
        dict[str, int], Meta(description="pieces a section may have before others, as definitions=4,tests=0")
    ] = msgspec.field(default_factory=dict)
    max_candidates: Annotated[int, Meta(description="pieces that are considered (1 to 1000)")] = 150
    trace: Annotated[bool, Meta(description="say what was done to answer")] = False


class PackResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`document` is the whole pack in its format, which the budget counts; tokens are told if limited."""

    format: str
    document: Annotated[str, Verbatim()]
    used_tokens: int = 0
    used_chars: int
    tokenizer: str
    items: int
    trace: dict[str, Any] | None = None


def run(engine: Engine, request: PackRequest) -> PackResponse:
    """Pack what answers a question: cited pieces by section, inside a hard budget, in the format you need.

    The whole pack is counted, exactly, by the tokenizer you name. --ref asks an older commit without a
    checkout. --diff A..B, --staged and --changed pack a change for review: the changed lines, what they
    touch, who calls it and what tests it. `satchel verify` checks a pack later, in any format.
    """
    tokens, chars = request.budget_tokens, request.max_chars
    if tokens is None and chars is None:
        tokens = DEFAULT_TOKENS
    with limits(tokens, chars) as most:
        return _packed(
            engine, msgspec.structs.replace(request, budget_tokens=most.tokens, max_chars=most.chars)
        )


def _packed(engine: Engine, request: PackRequest) -> PackResponse:
    """The pack of a request whose limits are known."""
    name = request.format
    renderer = plugins.load("renderer", name)
    change = _change(request)
    if change is not None:
        _refuse_sections(request, "the pack of a change", "ask a question instead of a change")
    elif name == FLAT:
        return _flat(engine, request)
    with at_ref(engine, request.ref) as chosen:
        if change is None:
            if not request.query:
                raise InvalidQuery("there is no question", hint='satchel pack "where are sessions stored"')
            pack = build_context_pack.sectioned(chosen, _as_sectioned(request), renderer.render)
        else:
            pack = chosen.review(
                change,
                query=request.query,
                render=renderer.render,
                tokenizer=request.tokenizer,
                budget_tokens=request.budget_tokens or 0,
                max_chars=request.max_chars or 0,
                filters=request.filters(),
            )
        trace = trace_of(chosen) if request.trace else None
    return _response(name, renderer.render(pack), pack, trace)


def _change(request: PackRequest) -> str | None:
    """The change that is to be reviewed, as git names it; None when a question is asked."""
    named = [bool(request.diff), request.staged, request.changed]
    if sum(named) > 1 or (any(named) and request.ref):
        raise InvalidRequest(
            "--diff, --staged, --changed and --ref exclude each other", hint="give one of them"
        )
    if request.staged:
        return "--staged"
    return request.diff if request.diff else ("" if request.changed else None)


def _flat(engine: Engine, request: PackRequest) -> PackResponse:
    """Context Pack v1, which counts characters unless only tokens were given."""
    _refuse_sections(request, f"the format {FLAT}", "use --format sections")
    flat = context_pack.ContextPackRequest(
        **_filters(request),
        query=request.query,
        max_chars=request.max_chars or 0,
        budget_tokens=request.budget_tokens or 0,
        tokenizer=request.tokenizer,
        ref=request.ref,
        trace=request.trace,
    )
    answer = context_pack.run(engine, flat)
    return PackResponse(
        format=FLAT,
        document=compact(answer),
        used_tokens=answer.budget.used_tokens,
        used_chars=answer.budget.used_chars,
        tokenizer=request.tokenizer,
        items=len(answer.items),
        trace=answer.meta.trace,
    )


def _refuse_sections(request: PackRequest, what: str, instead: str) -> None:
    """What has no meaning in a pack that is not filled by sections is not passed over in silence."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(PackRequest)}
    given = [name for name in ("mode", "max_candidates") if getattr(request, name) != defaults[name]]
    given += ["section_caps"] if request.section_caps else []
    if given:
        raise InvalidRequest(
            f"{what} is not filled by sections, so {', '.join(given)} cannot be used with it",
            hint=f"{instead}, or leave it out",
        )


def _as_sectioned(request: PackRequest) -> BuildContextPackRequest:
    return BuildContextPackRequest(
        **_filters(request),
        query=request.query,
        budget_tokens=request.budget_tokens or 0,
        max_chars=request.max_chars or 0,
        max_candidates=request.max_candidates,
        mode=request.mode,
        section_caps=request.section_caps,
        tokenizer=request.tokenizer,
    )


def _filters(request: PackRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in FilterFields.__struct_fields__}


def _response(name: str, document: str, pack: Pack, trace: dict[str, Any] | None) -> PackResponse:
    return PackResponse(
        format=name,
        document=document,
        used_tokens=pack.budget.used_tokens if pack.budget.max_tokens else 0,
        used_chars=pack.budget.used_chars,
        tokenizer=pack.budget.tokenizer,
        items=len(pack.items),
        trace=trace,
    )


COMMAND = Command("pack", PackRequest, PackResponse, run)
