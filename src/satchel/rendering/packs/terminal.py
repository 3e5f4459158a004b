"""The pack for a person: what was chosen and why, the code with its line numbers, what was left out.

    Context pack: <question>
    worktree, 1 item, 310 of 4000 o200k tokens  [█·······················] 8 %

    definitions (1)

    src/shop/session.py:12-48  class SessionStore  · definition, words
      #3f2a9c1d2e4b score 0.912
      12 │ class SessionStore:

    left out: 40 budget, 12 weak; 3 duplicates
    missing: <what is not here>
    next: satchel pack '<query>' — <reason>

Every line of code has the gutter before it, so no code can pass for anything else. `render` writes no
colours; `paint` adds them to what `render` wrote.
"""

from __future__ import annotations

import shlex

from satchel.packing.pack import Item, Pack
from satchel.rendering.packs.citation_line import lines_of, named, proof
from satchel.rendering.packs.headline import headline
from satchel.rendering.packs.quoting import quoted_line, short_query, shown, token
from satchel.rendering.packs.renderer import Renderer
from satchel.rendering.packs.sectioned import by_section
from satchel.rendering.packs.terminal_reading import (
    BETWEEN,
    GUTTER,
    GUTTER_LINE,
    ITEM_LINE,
    LEFT_OUT,
    MISSING,
    NEXT,
    PROOF_LINE,
    TITLE,
    WHY,
    read,
)
from satchel.rendering.style import Style
from satchel.types import Suggestion

_BAR_CELLS = 24


def render(pack: Pack) -> str:
    """The whole pack, without colours."""
    rows = [f"{TITLE} {short_query(pack.query)}".rstrip(), f"{headline(pack)}{_bar(pack)}", ""]
    for section, items in by_section(pack):
        rows += [f"{section.value} ({len(items)})", ""]
        for item in items:
            rows += [*_item(item, pack.ref), ""]
    if pack.counts.dropped or pack.counts.duplicates:
        rows.append(f"{LEFT_OUT}{_left_out(pack)}")
    rows += [f"{MISSING}{quoted_line(hint)}" for hint in pack.hints]
    rows += [f"{NEXT}{_command(suggestion)}" for suggestion in pack.next_queries]
    return "\n".join(rows).rstrip("\n") + "\n"


def paint(text: str, style: Style) -> str:
    """What `render` wrote, in colours if they are wanted."""
    return "\n".join(_painted(line, style) for line in text.split("\n")) if style.colour else text


def _bar(pack: Pack) -> str:
    budget = pack.budget
    used, limit = (
        (budget.used_tokens, budget.max_tokens)
        if budget.max_tokens
        else (budget.used_chars, budget.max_chars)
    )
    if not limit or not budget.drawn:
        return ""
    cells = min(_BAR_CELLS, _BAR_CELLS * used // limit)
    return f"  [{'█' * cells}{'·' * (_BAR_CELLS - cells)}] {100 * used // limit} %"


def _item(item: Item, pack_ref: str) -> list[str]:
    why = ", ".join(quoted_line(reason) for reason in item.reasons)
    name = named(item).strip()
    rows = [f"{token(item.path)}{lines_of(item)}"]
    rows[0] += (f"  {name}" if name else "") + (f"{WHY}{why}" if why else "")
    hidden = f", {item.redactions} redacted" if item.redactions else ""
    rows.append(f"  {proof(item, pack_ref)} score {item.score:.4g}{hidden}")
    width = len(str(item.end_line))
    for number, line in enumerate(shown(item.content).split("\n"), item.start_line):
        rows.append(f"  {number:>{width}} {GUTTER}{' ' if line else ''}{line}")
    return rows


def _left_out(pack: Pack) -> str:
    dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(pack.counts.dropped.items()))
    copies = f"{pack.counts.duplicates} duplicates" if pack.counts.duplicates else ""
    return "; ".join(part for part in (dropped, copies) if part)


def _command(suggestion: Suggestion) -> str:
    reason = quoted_line(suggestion.reason)
    command = f"satchel pack {shlex.quote(quoted_line(suggestion.query))}"
    return f"{command}{BETWEEN}{reason}" if reason else command


def _painted(line: str, style: Style) -> str:
    if match := GUTTER_LINE.fullmatch(line):
        end = match.end("gutter")
        return style.dim(line[:end]) + line[end:]
    if PROOF_LINE.fullmatch(line):
        return style.dim(line)
    if match := ITEM_LINE.fullmatch(line):
        end = match.end("last") if match["last"] else match.end("first")
        name, between, why = line[end:].partition(WHY)
        return style.path(line[:end]) + style.name(name) + style.dim(between + why)
    return style.name(line) if line.startswith(TITLE) else line


RENDERER = Renderer("terminal", render, read, shown)
