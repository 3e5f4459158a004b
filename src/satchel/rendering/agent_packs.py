"""The answers of `context_pack` and `build_context_pack` as text for agents: the pack that each was made of,
in the `context` format.

The first line states no tokens, because the budget counted the answer as JSON, not this text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.packing.pack import WORK_TREE, Budget, Counts, Item, Pack, Role
from satchel.packing.sections import Section
from satchel.rendering.packs import context
from satchel.types import Suggestion

if TYPE_CHECKING:
    from satchel.commands.build_context_pack import BuildContextPackResponse, Snippet
    from satchel.commands.context_pack import ContextItem, ContextPackResponse


def render_sectioned(response: BuildContextPackResponse) -> str:
    """Return a pack by sections as text."""
    items = [
        _snippet(item, Section(name))
        for name in response.sections.__struct_fields__
        for item in getattr(response.sections, name)
    ]
    pack = Pack(
        query=response.query,
        ref=response.ref,
        mode=response.mode,
        model_id=response.metadata.model_id,
        profile=response.metadata.profile,
        items=tuple(items),
        budget=Budget(tokenizer=response.metadata.tokenizer),
        counts=Counts(),
        next_queries=tuple(Suggestion(item.query, item.reason) for item in response.suggested_next_queries),
        hints=response.missing_context_hints,
    )
    return context.render(pack)


def render_flat(response: ContextPackResponse) -> str:
    """Return a flat pack as text."""
    ref = response.meta.ref or WORK_TREE
    pack = Pack(
        query=response.query,
        ref=ref,
        mode="",
        model_id=response.model_id,
        profile=response.profile,
        items=tuple(_context_item(item, ref) for item in response.items),
        budget=Budget(tokenizer=response.budget.tokenizer),
        counts=Counts(),
        next_queries=tuple(Suggestion(query, "") for query in response.meta.next_queries),
        hints=response.meta.hints,
    )
    return context.render_flat(pack)


def _snippet(item: Snippet, section: Section) -> Item:
    return Item(
        path=item.path,
        start_line=item.line_start,
        end_line=item.line_end,
        content=item.content,
        content_hash=item.content_hash,
        file_hash=item.file_hash,
        ref=item.ref,
        chunk_id=item.snippet_id,
        kind=item.kind,
        symbol=item.symbol,
        section=section,
        score=item.score,
        redactions=item.redactions,
    )


def _context_item(item: ContextItem, pack_ref: str) -> Item:
    return Item(
        path=item.file,
        start_line=item.start_line,
        end_line=item.end_line,
        content=item.content,
        content_hash=item.content_hash,
        file_hash="",
        ref=item.ref or pack_ref,
        chunk_id=item.chunk_id,
        kind=item.type,
        symbol=item.symbol,
        section=Section.DEFINITIONS,  # not shown: a flat pack is rendered without sections
        score=item.score,
        role=Role(item.role),
        relationship=item.relationship,
        distance=item.distance,
    )
