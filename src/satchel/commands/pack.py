"""`pack`: a context pack in any format, of the work tree, of a commit, or of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands import context_pack
from satchel.commands.command import Command, GitName, LocalPath, Verbatim
from satchel.commands.shared import CommitName, FilterFields, QueryText, WithTrace, at_ref, trace_of
from satchel.errors import InvalidQuery, InvalidRequest
from satchel.pack_request import DEFAULT_CANDIDATES, DEFAULT_TOKENS, PackLayout, PackRequest
from satchel.packing.pack import Pack
from satchel.packing.sections import PackMode
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.commands.session import Session

CONTEXT, FLAT = "context", "json"


class PackCommandRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: QueryText = ""
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
    ref: CommitName = ""
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
    max_candidates: Annotated[int, Meta(description="pieces that are considered (1 to 1000)")] = (
        DEFAULT_CANDIDATES
    )
    trace: WithTrace = False


class PackResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`document` is the whole pack in its format, which the budget counts; tokens are told if limited."""

    format: str
    document: Annotated[str, Verbatim()]
    used_tokens: int = 0
    used_chars: int
    tokenizer: str
    items: int
    trace: dict[str, Any] | None = None


def run(session: Session, request: PackCommandRequest) -> PackResponse:
    """Pack what answers a question: cited pieces by section, inside a hard budget, in the format you need.

    The whole pack is counted, exactly, by the tokenizer you name. --ref asks an older commit without a
    checkout. --diff A..B, --staged and --changed pack a change for review: the changed lines, what they
    touch, who calls it and what tests it. `satchel verify` checks a pack later, in any format.
    """
    renderer = session.formats.get(request.format)
    asked = _pack_request(request)
    if asked.layout is PackLayout.FLAT:
        return _flat(session, asked, request)
    with at_ref(session.engine, request.ref) as engine:
        pack = engine.make_pack(asked, renderer.render)
        trace = trace_of(engine) if request.trace else None
    return _response(request.format, renderer.render(pack), pack, trace)


def _pack_request(request: PackCommandRequest) -> PackRequest:
    change = _change(request)
    if change is None and not request.query:
        raise InvalidQuery("there is no question", hint='satchel pack "where are sessions stored"')
    return PackRequest(
        query=request.query,
        change=change,
        filters=request.filters(),
        layout=PackLayout.FLAT if request.format == FLAT and change is None else PackLayout.SECTIONED,
        budget_tokens=request.budget_tokens,
        max_chars=request.max_chars,
        tokenizer=request.tokenizer,
        mode=request.mode,
        section_caps=request.section_caps,
        max_candidates=request.max_candidates,
    )


def _change(request: PackCommandRequest) -> str | None:
    """Return the change that is to be reviewed, as git names it; None when a question is asked."""
    named = [bool(request.diff), request.staged, request.changed]
    if sum(named) > 1 or (any(named) and request.ref):
        raise InvalidRequest(
            "--diff, --staged, --changed and --ref exclude each other", hint="give one of them"
        )
    if request.staged:
        return "--staged"
    return request.diff if request.diff else ("" if request.changed else None)


def _flat(session: Session, asked: PackRequest, request: PackCommandRequest) -> PackResponse:
    """Return Context Pack v1, whose budget counts its data."""
    answer = context_pack.flat_response(session, asked, ref=request.ref, trace=request.trace)
    return PackResponse(
        format=FLAT,
        document=compact(answer),
        used_tokens=answer.budget.used_tokens,
        used_chars=answer.budget.used_chars,
        tokenizer=request.tokenizer,
        items=len(answer.items),
        trace=answer.meta.trace,
    )


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


COMMAND = Command("pack", PackCommandRequest, PackResponse, run, takes_session=True)
