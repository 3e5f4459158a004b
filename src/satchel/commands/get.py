"""`satchel get`: chunks and lines by id, with the lines around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import ids, tokenizers
from satchel.commands.command import Command, Group, Positional, Verbatim
from satchel.commands.shared import CommitName, TokenizerName, at_ref
from satchel.errors import ChunkNotFound, InvalidBudget, InvalidRequest
from satchel.packing import surrounding_lines
from satchel.packing.excerpts import Mode, StopReason, fit, headroom, least_budget, show
from satchel.packing.surrounding_lines import Definitions, FetchedLines
from satchel.retrieval.lookup import WHOLE_FILE_LINES, Fate, Lookup, LookupResult
from satchel.storage.open_files import OpenFile, OpenFiles
from satchel.storage.protocol import LAST_LINE
from satchel.types import ChunkKind

if TYPE_CHECKING:
    from satchel.engine import Engine

MAX_IDS = 200
_SHOWN_CHARS = 200  # of an id in a message; the details have the whole id


class GetRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ids: Annotated[
        tuple[str, ...],
        Meta(description="doc:digest, chunk_digest, path:start:end or a path; also joined by commas"),
        Positional(),
    ] = ()
    mode: Annotated[Mode, Meta(description="whole text, first lines, or signatures and headings")] = Mode.RAW
    around: Annotated[int, Meta(description="with up to this many chunks of the file before and after")] = 0
    enclosing: Annotated[bool, Meta(description="the whole definition or section that holds the lines")] = (
        False
    )
    budget: Annotated[int | None, Meta(description="tokens at most, over all chunks together")] = None
    max_chunks: Annotated[int, Meta(description="chunks at most")] = MAX_IDS
    tokenizer: TokenizerName = tokenizers.DEFAULT
    ref: CommitName = ""


class GotChunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines of a file. `content_hash` is the sha256 of lines `start_line` to `end_line`, `text` what the
    mode shows of them; `fate` says how the asked id relates to it. `id` names just these lines, `chunk_id`
    the chunk that was asked for, or the lines if they are of several; `symbol` is the definition that
    encloses them, if that was asked for; `also_asked` are further ids that the same lines answer."""

    asked: str
    id: str
    chunk_id: str
    path: str
    start_line: int
    end_line: int
    kind: str
    name: str
    fate: str
    content_hash: str
    file_hash: str
    text: Annotated[str, Verbatim()]
    redactions: int = 0
    detail: str = ""
    symbol: str = ""
    also_asked: tuple[str, ...] = ()
    ref: str = ""  # of a library: the repository and its commit, `NAME@COMMIT`, or `NAME@worktree`


class Missing(msgspec.Struct, frozen=True):
    """An id that names nothing any more, or nothing at all."""

    asked: str
    fate: str
    detail: str


class GetResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`min_tokens` is there when nothing fits the budget: the least one with which something would;
    `headroom_tokens` are those of the budget that are left free because the tokenizer estimates."""

    mode: str
    tokenizer: str
    used_tokens: int
    stop_reason: StopReason
    chunks: list[GotChunk]
    left_out: list[str]
    missing: list[Missing]
    min_tokens: int = 0
    headroom_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _AnsweredLines:
    """Lines of the answer, and the ids that they answer."""

    file: OpenFile
    span: FetchedLines
    answers: tuple[LookupResult, ...]


def run(engine: Engine, request: GetRequest) -> GetResponse:
    """Fetch just the lines you need by id, instead of reading whole files: the exact text, with hashes.

    Takes ids from `search`, lines (`src/app.py:10-24`) and whole files (`src/app.py`). An id that has gone
    stale is answered with what became of it; what names nothing is listed, and is an error if nothing does.
    """
    _check(request)
    with at_ref(engine, request.ref) as side:
        return _response(side, request)


def _response(engine: Engine, request: GetRequest) -> GetResponse:
    tokenizer = tokenizers.get(request.tokenizer)
    files = OpenFiles(engine.snapshot())
    found = _find(Lookup(files, WHOLE_FILE_LINES if request.mode is Mode.RAW else LAST_LINE), request)
    answered = _answered(files, found, request)
    missing = [Missing(item.asked, item.fate.value, item.detail) for item in found if item.chunk is None]
    if not answered and not any(item.fate is Fate.TOO_LONG for item in found):
        raise _nothing_found(missing)
    texts = [show(one.file, one.span, request.mode) for one in answered]
    free = headroom(request.budget, tokenizer.headroom)
    budget = None if request.budget is None else request.budget - free
    shown = fit(texts, tokenizer.count, budget, request.max_chunks)
    kept = set(shown.numbers)
    return GetResponse(
        mode=request.mode.value,
        tokenizer=request.tokenizer,
        used_tokens=shown.used,
        stop_reason=shown.stop_reason,
        chunks=[
            _chunk(answered[number], texts[number], engine.repository_ref(answered[number].file.path))
            for number in shown.numbers
        ],
        left_out=[_id(one) for number, one in enumerate(answered) if number not in kept],
        missing=missing,
        min_tokens=least_budget(shown.least, tokenizer.headroom),
        headroom_tokens=free,
    )


def _nothing_found(missing: list[Missing]) -> ChunkNotFound:
    """Return the error for ids that all name nothing: a script would take an empty answer for success."""
    first = missing[0]
    others = f" (nor do the {len(missing) - 1} others)" if len(missing) > 1 else ""
    return ChunkNotFound(
        f"{first.asked[:_SHOWN_CHARS]!r} names nothing here{others}: {first.fate}, {first.detail}",
        hint="take ids from a search",
        details={"missing": msgspec.to_builtins(missing)},
    )


def _check(request: GetRequest) -> None:
    """Raise if a number of the request is too small."""
    if request.budget is not None and request.budget < 1:
        raise InvalidBudget(
            f"the budget is {request.budget}, it must be at least 1", details={"min_tokens": 1}
        )
    for name, least in (("max_chunks", 1), ("around", 0)):
        if getattr(request, name) < least:
            raise InvalidRequest(f"{name} is {getattr(request, name)}, it must be at least {least}")


def _find(lookup: Lookup, request: GetRequest) -> list[LookupResult]:
    """Look up every id of the request."""
    asked = list(islice((part for item in request.ids for part in lookup.split(item)), MAX_IDS + 1))
    if not asked:
        raise InvalidRequest("no id was given", hint="take ids from a search")
    if len(asked) > MAX_IDS:
        raise InvalidRequest(
            f"more than {MAX_IDS} ids were given, {MAX_IDS} is the limit", hint="ask in several calls"
        )
    return [lookup.find(item) for item in asked]


def _answered(files: OpenFiles, found: list[LookupResult], request: GetRequest) -> list[_AnsweredLines]:
    """Return the lines that answer the ids; widened lines that overlap become one range."""
    definitions = cache(surrounding_lines.definitions)
    answered = []
    for item in found:
        if item.chunk is not None and (file := files.get(item.chunk.path)) is not None:
            answered.append(_AnsweredLines(file, _widened(file, item, definitions, request), (item,)))
    if not request.around and not request.enclosing:
        return answered
    groups = surrounding_lines.overlapping([one.span for one in answered])
    return [_merged([answered[number] for number in group]) for group in groups]


def _widened(
    file: OpenFile, item: LookupResult, definitions: Definitions, request: GetRequest
) -> FetchedLines:
    """Return the lines of a found chunk, widened as the request asks for."""
    chunk = item.chunk
    assert chunk is not None
    span = FetchedLines(chunk.path, chunk.start_line, chunk.end_line)
    if request.enclosing:
        span = surrounding_lines.enclosing(file, definitions(file), span)
    elif request.mode is Mode.SKELETON and chunk is item.holder:
        span = surrounding_lines.whole_type(file, definitions, span, chunk)
    return surrounding_lines.around(file, span, request.around)


def _merged(answered: list[_AnsweredLines]) -> _AnsweredLines:
    """Return lines that overlap as one, with the symbol of a definition that covers all of them."""
    spans = [one.span for one in answered]
    first, last = min(span.first for span in spans), max(span.last for span in spans)
    whole = [span for span in spans if (span.first, span.last) == (first, last)]
    span = whole[0] if whole else msgspec.structs.replace(spans[0], first=first, last=last, symbol=None)
    return _AnsweredLines(answered[0].file, span, tuple(item for one in answered for item in one.answers))


def _chunk(one: _AnsweredLines, text: str, ref: str) -> GotChunk:
    """Return lines as the response has them."""
    asked, *others = one.answers
    file, span, chunk = one.file, one.span, asked.chunk
    assert chunk is not None
    symbol = span.symbol
    separator = " > " if chunk.kind is ChunkKind.SECTION else "."
    return GotChunk(
        asked=asked.asked,
        id=_id(one),
        chunk_id=ids.long_id(asked.holder.digest) if asked.holder else span.locator,
        path=file.path,
        start_line=span.first,
        end_line=span.last,
        kind=(symbol or chunk).kind.value,
        name=symbol.qualified_name if symbol else separator.join(chunk.title_path),
        fate=asked.fate.value,
        content_hash=ids.hash_text(file.text(span.first, span.last)),
        file_hash=file.record.file_hash,
        text=text,
        redactions=sum(span.first <= line <= span.last for line in file.record.redactions),
        detail="; ".join(dict.fromkeys(item.detail for item in one.answers if item.detail)),
        symbol=symbol.qualified_name if symbol else "",
        also_asked=tuple(item.asked for item in others),
        ref=ref,
    )


def _id(one: _AnsweredLines) -> str:
    """Return the id of the chunk whose lines these are, or else their path and lines."""
    chunk = one.file.chunk_at(one.span.first, one.span.last)
    return ids.canonical_id(ids.doc_of(chunk.path), chunk.digest) if chunk else one.span.locator


COMMAND = Command("get", GetRequest, GetResponse, run, tool="get", group=Group.LOOK)
