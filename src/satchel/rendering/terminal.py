"""Answers for a person at a terminal: one function per response, found by the name of its type.

`terminal_reports.py` has those that tell of an index, its packs and its evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from satchel.lines import split_lines
from satchel.plugins import late
from satchel.rendering.style import Style
from satchel.rendering.visible import NOTEBOOK_NOTE, cited_in, cited_path, one_line, shown_source, visible
from satchel.visible_json import indented
from satchel.wording import counted

if TYPE_CHECKING:  # an answer is there, so its own command is loaded: the others need not be
    from satchel.commands.batch import BatchResponse
    from satchel.commands.build_context_pack import BuildContextPackResponse
    from satchel.commands.context_pack import ContextPackResponse
    from satchel.commands.files import FilesResponse
    from satchel.commands.get import GetResponse
    from satchel.commands.grep import GrepResponse
    from satchel.commands.impact import ImpactItem, ImpactResponse
    from satchel.commands.map import MapResponse
    from satchel.commands.onboard import OnboardResponse
    from satchel.commands.path import PathResponse
    from satchel.commands.prompt import PromptResponse
    from satchel.commands.recall import RecallResponse
    from satchel.commands.refs import RefsResponse
    from satchel.commands.search import SearchResponse
    from satchel.commands.shared import SymbolItem, UsedDefinition
    from satchel.commands.symbols import SymbolsResponse
    from satchel.rendering import terminal_reports
else:
    terminal_reports = late("satchel.rendering.terminal_reports")


def render(response: Any, style: Style) -> str:
    """Return any answer as text; one without a function of its own as indented JSON."""
    name = type(response).__name__
    form = FORMS.get(name) or terminal_reports.REPORTS.get(name)
    if form is None:
        return indented(response, 2) + "\n"
    return form(response, style)


def _search(response: SearchResponse, style: Style) -> str:
    rows = []
    for hit in response.hits:
        cited = cited_path(hit.path, hit.ref)
        where = style.path(f"{one_line(cited)}:{hit.start_line}-{hit.end_line}")
        rows.append(f"{where}  {style.dim(hit.kind)} {style.name(one_line(hit.name))}".rstrip())
        rows.append(style.dim(f"  {one_line(hit.id)}  score {hit.score:g}"))
        for reason in hit.reasons:
            rows.append(style.dim(f"    {reason.score:>8.3f}  {reason.signal} {reason.strength:g}"))
        lines = style.code(visible(hit.snippet).rstrip("\n"), hit.path)
        rows += [f"  {style.dim('│')} {line}" for line in lines]
        rows.append("")
    if not response.hits:
        rows.append(f"Nothing found for {one_line(response.query)!r}.")
        rows += [f"  try: {one_line(item.query)}  ({one_line(item.reason)})" for item in response.suggestions]
    return "\n".join(rows).rstrip("\n") + "\n"


def _get(response: GetResponse, style: Style) -> str:
    rows = []
    for chunk in response.chunks:
        cited = cited_path(chunk.path, chunk.ref)
        where = style.path(f"{one_line(cited)}:{chunk.start_line}-{chunk.end_line}")
        text = shown_source(chunk.path, chunk.text)
        note = f"  {chunk.fate}: {one_line(chunk.detail)}" if chunk.detail else ""
        note += f"  {NOTEBOOK_NOTE}" if text != chunk.text else ""
        named = f"  {style.name(one_line(chunk.symbol))}" if chunk.symbol else ""
        rows.append(f"{where}  {style.dim(one_line(chunk.id))}{named}{note}")
        if chunk.also_asked:
            rows.append(style.dim(f"  also answers {one_line(', '.join(chunk.also_asked))}"))
        rows += style.code(visible(text).rstrip("\n"), chunk.path)
        rows.append("")
    rows += [f"{one_line(item.asked)}: {item.fate}, {one_line(item.detail)}" for item in response.missing]
    why = "these are chunks enough" if response.stop_reason == "max_chunks" else "the budget is used up"
    rows += [f"{one_line(chunk_id)}: left out, {why}" for chunk_id in response.left_out]
    if response.min_tokens:
        rows.append(f"Nothing fits: --budget {response.min_tokens} is the least that shows something.")
    return "\n".join(rows).rstrip("\n") + "\n"


def _grep(response: GrepResponse, style: Style) -> str:
    rows = []
    for group in response.groups:
        where = style.path(one_line(cited_in(group.path, response.refs)))
        named = f"  {style.dim(group.kind)} {style.name(one_line(group.name))}" if group.name else ""
        rows.append(f"{where}{named}{'  defined here' if group.defines else ''}")
        for excerpt in group.excerpts:
            shown = "\n".join(one_line(line.rstrip()) for line in split_lines(excerpt.text))
            lines = style.code(shown, group.path)
            for number, line in enumerate(lines, excerpt.start_line):
                mark = ":" if number in excerpt.matched else "-"
                rows.append(f"{style.dim(f'{number:>6}{mark}')} {line}")
            rows.append(style.dim(f"        {one_line(excerpt.chunk_id)}"))
        rows += [style.dim(f"        {counted(group.left_out, 'more line')}")] if group.left_out else []
    rows += [
        f"{item.matches:>7}  {style.path(one_line(cited_in(item.path, response.refs)))}"
        for item in response.counts
    ]
    matches = counted(response.matches, "match", "matches")
    told = f"{matches} in {counted(response.files, 'file')}"
    if response.shown_matches < response.matches:
        files = response.files - response.shown_files
        told += f"; {response.matches - response.shown_matches} left out, "
        told += f"{counted(files, 'file')} with all of theirs"
    if response.unread_files:
        told += f"; the time was over: {counted(response.unread_files, 'file was', 'files were')} not read"
    return "\n".join((*rows, told)) + "\n"


def _context_pack(response: ContextPackResponse, style: Style) -> str:
    rows = []
    for item in response.items:
        what = f"{item.role} {item.type} {item.symbol}".rstrip()
        rows += _quoted_item(item.file, item.start_line, item.end_line, what, item.content, style)
    dropped = f"{counted(len(response.items), 'item')}, {response.budget.dropped_items} left out"
    return "\n".join([*rows, dropped, *map(one_line, response.meta.hints)]) + "\n"


def _build_context_pack(response: BuildContextPackResponse, style: Style) -> str:
    rows = []
    for name in response.sections.__struct_fields__:
        for item in getattr(response.sections, name):
            what = f"{name} {item.kind} {item.symbol}".rstrip()
            rows += _quoted_item(item.path, item.line_start, item.line_end, what, item.content, style)
    counts = response.metadata
    dropped = (
        f"{counted(counts.selected, 'piece')} of {counts.candidates}, {response.token_budget_used} tokens"
    )
    return "\n".join([*rows, dropped, *map(one_line, response.missing_context_hints)]) + "\n"


def _quoted_item(path: str, first: int, last: int, what: str, content: str, style: Style) -> list[str]:
    where = style.path(f"{one_line(path)}:{first}-{last}")
    lines = [f"  {style.dim('│')} {line}" for line in style.code(visible(content).rstrip("\n"), path)]
    return [f"{where}  {style.dim(one_line(what))}", *lines, ""]


def _batch(response: BatchResponse, style: Style) -> str:
    rows = []
    for item in response.items:
        rows.append(f"{style.name(one_line(item.id))}: {item.status}  {one_line(item.message)}".rstrip())
        if item.data is not None:
            shown = indented(item.data, 2)
            rows += [f"  {line}" for line in visible(shown).split("\n")]
    budget = response.budget
    rows.append(style.dim(f"{budget.used_chars:,} of {budget.max_chars:,} characters"))
    return "\n".join(rows) + "\n"


def _files(response: FilesResponse, style: Style) -> str:
    rows = [style.dim(f"{'bytes':>11} {'lines':>9} {'used by':>8} {'changes':>8}  language")]
    for item in response.files:
        inside = f"  {counted(item.files, 'file')}" if item.path.endswith("/") else ""
        rows.append(
            f"{item.bytes:>11,} {item.lines:>9,} {_or_dash(item.used_by):>8} {item.changes:>8,}"
            f"  {item.language:<12} {style.path(one_line(item.path))}{style.dim(inside)}"
        )
    if response.total > len(response.files):
        rows.append(f"{response.total - len(response.files):,} more: raise --limit")
    return "\n".join(rows) + "\n"


def _or_dash(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _symbols(response: SymbolsResponse, style: Style) -> str:
    rows = []
    for item in response.symbols:
        where = style.path(
            f"{one_line(cited_in(item.path, response.refs))}:{item.start_line}-{item.end_line}"
        )
        rows.append(f"{where}  {style.dim(item.kind)} {style.name(one_line(item.qualified_name))}")
        rows += [f"    {one_line(text)}" for text in (item.signature, style.dim(one_line(item.doc))) if text]
    if response.next_cursor:
        rows.append(f"more of {response.total}: raise --limit, or give --cursor {response.next_cursor}")
    if not rows:
        rows.append(f"{one_line(response.name) or 'this project'}: no definitions")
    return "\n".join(rows) + "\n"


def _refs(response: RefsResponse, style: Style) -> str:
    counts = ", ".join(f"{label} {count}" for label, count in response.counts.items()) or "no sure uses"
    rows = [f"{style.name(one_line(response.name))}: {counts}"]
    for item in response.definitions:
        rows.append(f"  defined {_place(item, response.refs, style)} {style.dim(f'({_uses(item)})')}")
    for item in response.overrides:
        rows.append(f"  overrides {_place(item, response.refs, style)} {style.dim(f'({_uses(item)})')}")
    for member in response.overridden_by:
        rows.append(f"  overridden by {_place(member, response.refs, style)}")
    rows += _matched_by_name(response)
    if response.references and not response.definitions and not response.references[0].sure:
        rows.append(style.dim("  nothing here defines it; these uses are written so"))
    several = len(response.definitions) > 1
    around = None
    for use in response.references:
        if (use.path, use.within) != around:
            around = (use.path, use.within)
            inside = f" in {one_line(use.within)}" if use.within else ""
            rows.append(f"  {style.path(one_line(cited_in(use.path, response.refs)))}{inside}")
        means = f" → {one_line(cited_in(use.target, response.refs))}" if several and use.target else ""
        decided = f"{use.rule or 'possible'}{f' {use.confidence:.2f}' if use.confidence else ''}"
        rows.append(f"    {use.line:>5} {use.label:<8} {style.dim(f'{decided}{means}')}")
    if response.total > len(response.references):
        rows.append(f"  {response.total - len(response.references)} more: raise --limit")
    if response.possible and not any(not use.sure for use in response.references):
        rows.append(f"  {response.possible} possible uses share the name only: --possible shows them")
    return "\n".join(rows) + "\n"


def _place(item: SymbolItem, refs: Mapping[str, str], style: Style) -> str:
    """Return where a definition stands, with its signature."""
    where = style.path(f"{one_line(cited_in(item.path, refs))}:{item.start_line}")
    return f"{where} {one_line(item.signature)}"


def _uses(item: UsedDefinition) -> str:
    if not item.uses:
        return "no sure uses"
    return f"{counted(item.uses, 'use')} in {counted(item.files, 'file')}"


def _impact(response: ImpactResponse, style: Style) -> str:
    count = len(response.changed)
    rows = [f"{style.name(one_line(response.name))}: {count} definition{'' if count == 1 else 's'}"]
    for distance in range(1, response.depth + 1):
        near = [item for item in response.items if item.distance == distance]
        if near:
            rows.append(f"  {'used by' if distance == 1 else f'after {distance} steps'}")
            rows += [_impact_row(item, response.refs, style) for item in near]
    if response.tests:
        rows.append("  tests that reach it")
        rows += [_impact_row(item, response.refs, style) for item in response.tests]
    if not response.items and not response.tests:
        rows.append("  no sure use")
    rows += _matched_by_name(response)
    if response.truncated:
        rows.append("  more: raise --limit")
    return "\n".join(rows) + "\n"


def _matched_by_name(response: RefsResponse | ImpactResponse) -> list[str]:
    """Return the line that says in which languages no use is sure."""
    if not response.matched_by_name:
        return []
    languages = ", ".join(response.matched_by_name)
    return [f"  no rules for {languages}: uses are matched by name, and each may mean another definition"]


def _impact_row(item: ImpactItem, refs: Mapping[str, str], style: Style) -> str:
    where = style.path(f"{one_line(cited_in(item.path, refs))}:{item.line}")
    through = style.dim(f"{item.label} {one_line(item.through)}")
    return f"    {where} {one_line(item.name) or '(file)'}  {through}"


def _path(response: PathResponse, style: Style) -> str:
    if not response.steps:
        return (
            f"{one_line(response.start)} and {one_line(response.end)}: no chain of sure uses connects them\n"
        )
    rows = [
        f"{one_line(step.user)} {step.label} {one_line(step.used)}"
        f"  {style.path(f'{one_line(cited_in(step.path, response.refs))}:{step.line}')}"
        for step in response.steps
    ]
    return "\n".join(rows) + "\n"


def _onboard(response: OnboardResponse, style: Style) -> str:
    rows = (style.name(row) if row.startswith("## ") else row for row in visible(response.text).split("\n"))
    return "\n".join(rows)


def _recall(response: RecallResponse, style: Style) -> str:
    if not response.sure:
        return (
            f"Nothing: it is not sure enough that this is about the code ({response.total:g}; 0 is enough).\n"
        )
    return visible(response.text)


def _map(response: MapResponse | PromptResponse, style: Style) -> str:
    return visible(response.text)


FORMS: dict[str, Callable[[Any, Style], str]] = {
    "BuildContextPackResponse": _build_context_pack,
    "BatchResponse": _batch,
    "ContextPackResponse": _context_pack,
    "FilesResponse": _files,
    "GetResponse": _get,
    "GrepResponse": _grep,
    "MapResponse": _map,
    "PromptResponse": _map,
    "ImpactResponse": _impact,
    "OnboardResponse": _onboard,
    "PathResponse": _path,
    "RecallResponse": _recall,
    "RefsResponse": _refs,
    "SearchResponse": _search,
    "SymbolsResponse": _symbols,
}
"""By the name of the response type, so that rendering loads no other command than the one that ran."""
