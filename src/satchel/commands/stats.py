"""`satchel stats`: the content of the index in numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from satchel.commands import query_log
from satchel.commands.command import Command, Group
from satchel.commands.query_log import QueryStats

if TYPE_CHECKING:
    from satchel.engine import Engine


class StatsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class StatsResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    segment: str
    generation: int
    files: int
    chunks: int
    symbols: int
    lines: int
    text_bytes: int
    index_bytes: int
    redactions: int
    languages: dict[str, int]
    kinds: dict[str, int]
    queries: QueryStats | None = None


def run(engine: Engine, request: StatsRequest) -> StatsResponse:
    """Count what is indexed: files, chunks, symbols, lines, bytes, languages and kinds of chunks.

    Where the log of questions is on (`query_log = true` in the user file, or SATCHEL_QUERY_LOG=1), it also
    says how many were asked, which found nothing, how long they took and how many tokens they saved.
    """
    snapshot = engine.snapshot()
    files = snapshot.files()
    return StatsResponse(
        segment=engine.name,
        generation=snapshot.generation,
        files=len(files),
        chunks=sum(record.chunk_count for record in files),
        symbols=snapshot.symbol_count(),
        lines=sum(record.line_count for record in files),
        text_bytes=sum(record.size for record in files),
        index_bytes=engine.store.size_bytes(),
        redactions=sum(len(record.redactions) for record in files),
        languages=dict(sorted(Counter(record.language for record in files).items())),
        kinds=snapshot.kind_counts(),
        queries=query_log.summary(engine),
    )


COMMAND = Command("stats", StatsRequest, StatsResponse, run, group=Group.LOOK)
