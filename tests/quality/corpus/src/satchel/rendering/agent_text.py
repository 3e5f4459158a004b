"""Search results as text for agents: ids first, the rule for citing them last."""

from __future__ import annotations

from satchel.rendering.visible import one_line, visible
from satchel.types import Hit, Suggestion

_RULE = (
    "CITATION RULE: Always reference chunks by ID in your answer.\n"
    "Use read_file only if you need full context beyond these snippets.\n"
)


def render_hits(query: str, hits: list[Hit], suggestions: list[Suggestion]) -> str:
    """The hits of a search, or what to search for instead."""
    if not hits:
        return _nothing(query, suggestions)
    rows = [f"Found {len(hits)} chunks matching '{one_line(query)}':", ""]
    for number, hit in enumerate(hits, 1):
        name = f" ({one_line(hit.name)})" if hit.name else ""
        snippet = visible(hit.snippet).rstrip("\n").replace("\n", "\n        ")
        rows += [
            f"[{number}] CHUNK_ID: {hit.chunk_id}",
            f"    Source: {one_line(hit.path)} (lines {hit.start_line}-{hit.end_line})",
            f"    Type: {hit.kind}{name}",
            f"    Snippet: {snippet}",
            "",
        ]
    return "\n".join(rows) + "\n" + _RULE


def _nothing(query: str, suggestions: list[Suggestion]) -> str:
    rows = [f"No chunks found matching '{one_line(query)}'."]
    if suggestions:
        rows.append("SUGGESTION: Try searching for:")
        rows += [f"- '{one_line(item.query)}' ({one_line(item.reason)})" for item in suggestions]
    else:
        rows.append("SUGGESTION: no word of the query occurs in this index; ask in other words.")
    return "\n".join(rows) + "\n"
