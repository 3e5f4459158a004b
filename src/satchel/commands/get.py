"""`get`: chunks by id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import ids, tokenizers
from satchel.commands.command import Command, Positional
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.packing.fetch import Mode, StopReason, fit, show
from satchel.retrieval.lookup import Found

if TYPE_CHECKING:
    from satchel.engine import Engine

MAX_IDS = 200


class GetRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ids: Annotated[
        tuple[str, ...],
        Meta(description="doc:digest, chunk_digest or path:start:end; several, also joined by commas"),
        Positional(),
    ] = ()
    mode: Annotated[Mode, Meta(description="whole text, first lines, or signatures and headings")] = Mode.RAW
    budget: Annotated[int | None, Meta(description="tokens at most, over all chunks together")] = None
    max_chunks: Annotated[int, Meta(description="chunks at most")] = MAX_IDS
    tokenizer: Annotated[str, Meta(description="how tokens are counted")] = tokenizers.DEFAULT


class GotChunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """A chunk. `content_hash` is the sha256 of lines `start_line` to `end_line`, `text` what the mode
    shows of them; `fate` says how the asked id relates to it."""

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
    text: str
    redactions: int = 0
    detail: str = ""


class Missing(msgspec.Struct, frozen=True):
    """An id that names nothing any more, or nothing at all."""

    asked: str
    fate: str
    detail: str


class GetResponse(msgspec.Struct, frozen=True):
    mode: str
    tokenizer: str
    used_tokens: int
    stop_reason: StopReason
    chunks: list[GotChunk]
    left_out: list[str]
    missing: list[Missing]


def run(engine: Engine, request: GetRequest) -> GetResponse:
    """Fetch chunks by id: the exact lines, with their hashes.

    Takes ids from `search` (`docs/setup:15d1b6fd7c`), their long spelling (`chunk_15d1b6fd7cffd258`)
    and locators (`src/app.py:10:24`). An id that has gone stale is answered with what became of it.
    """
    asked = _asked(request)
    found = engine.find(asked)
    current = [item for item in found if item.chunk is not None]
    chunks = [_got(engine, item, request.mode) for item in current]
    count = tokenizers.get(request.tokenizer).count
    shown = fit([chunk.text for chunk in chunks], count, request.budget, request.max_chunks)
    kept = {position for position, _ in shown.texts}
    return GetResponse(
        mode=request.mode.value,
        tokenizer=request.tokenizer,
        used_tokens=shown.used,
        stop_reason=shown.stop_reason,
        chunks=[chunk for position, chunk in enumerate(chunks) if position in kept],
        left_out=[chunk.id for position, chunk in enumerate(chunks) if position not in kept],
        missing=[Missing(item.asked, item.fate.value, item.detail) for item in found if item.chunk is None],
    )


def _asked(request: GetRequest) -> list[str]:
    asked = [part for item in request.ids for part in item.split(",") if part.strip()]
    if not asked:
        raise InvalidRequest("no id was given", hint="take ids from `satchel search`")
    if len(asked) > MAX_IDS:
        raise InvalidRequest(
            f"{len(asked)} ids were given, the limit is {MAX_IDS}", hint="ask in several calls"
        )
    if request.budget is not None and request.budget < 1:
        raise InvalidBudget(
            f"the budget is {request.budget}, it must be at least 1", details={"min_tokens": 1}
        )
    if request.max_chunks < 1:
        raise InvalidRequest(f"max_chunks is {request.max_chunks}, it must be at least 1")
    return asked


def _got(engine: Engine, item: Found, mode: Mode) -> GotChunk:
    chunk = item.chunk
    assert chunk is not None
    snapshot = engine.snapshot()
    record = snapshot.file(chunk.path)
    assert record is not None
    text = engine.text_of(chunk)
    return GotChunk(
        asked=item.asked,
        id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
        chunk_id=ids.long_id(chunk.digest),
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        kind=chunk.kind.value,
        name=".".join(chunk.title_path),
        fate=item.fate.value,
        content_hash=ids.hash_text(text),
        file_hash=record.file_hash,
        text=show(chunk, text, snapshot.symbols(chunk.path), mode),
        redactions=sum(chunk.start_line <= line <= chunk.end_line for line in record.redactions),
        detail=item.detail,
    )


COMMAND = Command("get", GetRequest, GetResponse, run)
