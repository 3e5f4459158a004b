"""The pack for a person: what was chosen and why, the code with its line numbers, what was left out.

    Context pack: <query>
    worktree, 1 item, 310 of 4000 o200k tokens  [█·······················] 8 %

    definitions (1)

    src/shop/session.py:12-48  class SessionStore  · definition, words
      #3f2a9c1d score 0.912
      12 │ class SessionStore:

    left out: 40 budget, 12 weak; 3 duplicates
    missing: <what is not here>
    next: satchel pack '<query>' — <reason>

Every line of code has the gutter before it, so no code can pass for anything else. `render` writes no
colours; `paint` adds them to what `render` wrote.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from satchel.commands.pack_formats import Renderer
from satchel.packing.pack import Counts, Item, Pack
from satchel.rendering.packs.quoting import quoted_line, short_query, shown_text
from satchel.rendering.packs.text_lines import (
    LOCATOR,
    PROOF,
    REMOVED,
    SECTIONS,
    Headline,
    by_section,
    citation_proof,
    edited_pack,
    headline,
    kind_and_symbol,
    line_numbers,
    line_start,
    pack_lines,
    path_word,
    read_headline,
    read_match,
    read_ranges,
    truncated_pack,
)
from satchel.rendering.style import Style
from satchel.types import Suggestion
from satchel.verifying.saved_pack import Citation, CitedPack

_BAR_CELLS = 24
_TITLE = "Context pack:"
_GUTTER = "│"
_WHY = "  · "
_BETWEEN = " — "
_LEFT_OUT = "left out: "
_MISSING = "missing: "
_NEXT = "next: "
# The reason begins with two spaces, the first of which must not be read as the start of a symbol.
_ITEM_LINE = re.compile(
    rf"{LOCATOR}(?:  (?P<kind>[\w-]+)(?:(?!{_WHY}) (?P<symbol>.*?))?)?(?:{_WHY}(?P<why>.*))?"
)
_PROOF_LINE = re.compile(rf"  {PROOF} score (?P<score>[-+.\w]+)(?:, \d+ redacted)?")
_GUTTER_LINE = re.compile(rf"(?P<gutter> +\d+ {_GUTTER})(?: (?P<code>.*))?")
_SECTION = re.compile(r"(\w+) \(\d+\)")
_BAR = re.compile(r"  \[[█·]+\] \d+ %")
_COUNT = re.compile(r"(\d{1,9}) (\w+)")


def render(pack: Pack) -> str:
    """Return the pack as text, without colours."""
    rows = [f"{_TITLE} {short_query(pack.query)}".rstrip(), f"{headline(pack)}{_bar(pack)}", ""]
    for section, items in by_section(pack):
        rows += [f"{section.value} ({len(items)})", ""]
        for item in items:
            rows += [*_item(item, pack.ref), ""]
    if pack.counts.dropped or pack.counts.duplicates:
        rows.append(f"{_LEFT_OUT}{_left_out(pack)}")
    rows += [f"{_MISSING}{quoted_line(hint)}" for hint in pack.hints]
    rows += [f"{_NEXT}{_command(suggestion)}" for suggestion in pack.next_queries]
    return "\n".join(rows).rstrip("\n") + "\n"


def paint(text: str, style: Style) -> str:
    """Return the text that `render` wrote, in colours if the style has them."""
    return "\n".join(_painted_lines(text.split("\n"), style)) if style.colour else text


def _bar(pack: Pack) -> str:
    """Return a bar that shows how full the budget is; empty without a limit."""
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
    name = kind_and_symbol(item).strip()
    rows = [f"{path_word(item)}{line_numbers(item)}"]
    rows[0] += (f"  {name}" if name else "") + (f"{_WHY}{why}" if why else "")
    hidden = f", {item.redactions} redacted" if item.redactions else ""
    rows.append(f"  {citation_proof(item, pack_ref)} score {item.score:.4g}{hidden}")
    width = len(str(item.end_line))
    for number, line in enumerate(shown_text(item.content).split("\n"), item.start_line):
        rows.append(f"  {number:>{width}} {_GUTTER}{' ' if line else ''}{line}")
    return rows


def _left_out(pack: Pack) -> str:
    dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(pack.counts.dropped.items()))
    copies = f"{pack.counts.duplicates} duplicates" if pack.counts.duplicates else ""
    return "; ".join(part for part in (dropped, copies) if part)


def _command(suggestion: Suggestion) -> str:
    reason = quoted_line(suggestion.reason)
    command = f"satchel pack {shlex.quote(quoted_line(suggestion.query))}"
    return f"{command}{_BETWEEN}{reason}" if reason else command


def _painted_lines(lines: Sequence[str], style: Style) -> Iterator[str]:
    """Yield the lines of a pack in colours: code in those of its language, changed lines by their numbers."""
    path, proof, at = "", "", 0
    while at < len(lines):
        end = at
        while end < len(lines) and _GUTTER_LINE.fullmatch(lines[end]):
            end += 1
        if end > at:
            yield from _painted_code(lines[at:end], path, proof, style)
            at = end
            continue
        line = lines[at]
        if _PROOF_LINE.fullmatch(line):
            proof = line
        elif match := _ITEM_LINE.fullmatch(line):
            path = match["path"] or path
        yield _painted(line, style)
        at += 1


def _painted_code(lines: Sequence[str], path: str, proof: str, style: Style) -> Iterator[str]:
    """Yield the lines of one item: its numbers dim, those of added lines green, of removed ones red."""
    split = [line.partition(f" {_GUTTER}") for line in lines]
    code = style.code("\n".join(rest.removeprefix(" ") for _, _, rest in split), path)
    found = _PROOF_LINE.fullmatch(proof)
    changed = read_ranges((found["changed"] if found else "") or "")
    mark = style.error if found and REMOVED in (found["labels"] or "") else style.added
    for (number, gutter, rest), row in zip(split, code, strict=True):
        is_changed = any(first <= int(number) <= last for first, last in changed)
        yield f"{(mark if is_changed else style.dim)(number + gutter)}{' ' if rest else ''}{row}"


def _painted(line: str, style: Style) -> str:
    if _PROOF_LINE.fullmatch(line):
        return style.dim(line)
    if match := _ITEM_LINE.fullmatch(line):
        end = match.end("last") if match["last"] else match.end("first")
        name, between, why = line[end:].partition(_WHY)
        return style.path(line[:end]) + style.name(name) + style.dim(between + why)
    return style.name(line) if line.startswith(_TITLE) else line


def read(text: str) -> CitedPack | None:
    """Read a pack in this format; return None if the text is in another one."""
    lines = pack_lines(text)
    if len(lines) < 2 or not lines[0].startswith(_TITLE):
        return None
    head = read_headline(_BAR.sub("", lines[1]))
    return _TerminalReader(lines, head).cited() if head is not None else None


class _TerminalReader:
    """Reads the lines of a saved pack. The gutter tells code from citations."""

    def __init__(self, lines: list[str], head: Headline) -> None:
        self._lines = lines
        self._head = head
        self._section = ""
        self._citations: list[Citation] = []
        self._found: dict[str, list[str]] = {_LEFT_OUT: [], _MISSING: [], _NEXT: []}
        place = 2
        while place < len(lines):
            place = self._step(place)

    def cited(self) -> CitedPack:
        """Return the pack that was read."""
        pack = self._head.cited("terminal", self._lines[0].removeprefix(_TITLE).strip(), self._citations)
        return msgspec.structs.replace(
            pack,
            hints=tuple(self._found[_MISSING]),
            next_queries=tuple(map(_suggestion, self._found[_NEXT])),
            counts=_counts(len(self._citations), "".join(self._found[_LEFT_OUT])),
        )

    def _step(self, place: int) -> int:
        """Read what starts at a line; return the number of the line after it."""
        line = self._lines[place]
        section = _SECTION.fullmatch(line)
        kind = next((prefix for prefix in self._found if line.startswith(prefix)), "")
        if kind:
            self._found[kind].append(line.removeprefix(kind))
        elif section and section[1] in SECTIONS:
            self._section = section[1]
        elif line:
            return self._item(place, line)
        return place + 1

    def _item(self, place: int, line: str) -> int:
        match = _ITEM_LINE.fullmatch(line)
        if match is None or match["path"] is None:
            raise edited_pack(f"line {place + 1} is not part of it: {line_start(line)}")
        rest = self._lines[place + 1] if place + 1 < len(self._lines) else ""
        proof = _PROOF_LINE.fullmatch(rest)
        if proof is None:
            raise truncated_pack(f"the hash of {line_start(line)} is not there")
        end = place + 2
        code = []
        while end < len(self._lines) and (row := _GUTTER_LINE.fullmatch(self._lines[end])):
            code.append(row["code"] or "")
            end += 1
        citation = self._citation(match, proof, "\n".join(code))
        if len(code) != citation.end_line - citation.start_line + 1:
            raise truncated_pack(f"the text of {citation.locator} has {len(code)} lines")
        self._citations.append(citation)
        return end

    def _citation(self, match: re.Match[str], proof: re.Match[str], code: str) -> Citation:
        groups = match.groupdict() | proof.groupdict()
        citation = read_match(groups, "", self._head.ref, self._section)
        why = groups["why"]
        return msgspec.structs.replace(
            citation, shown=code, reasons=tuple(why.split(", ")) if why else (), score=_score(groups["score"])
        )


def _score(written: str) -> float:
    try:
        return float(written)
    except ValueError as error:
        raise edited_pack("a score is no number") from error


def _suggestion(text: str) -> Suggestion:
    command, _, reason = text.partition(_BETWEEN)
    try:
        query = shlex.split(command)[2:3]
    except ValueError:  # the query itself holds the mark that comes before a reason
        query = [command]
    return Suggestion("".join(query), reason)


def _counts(selected: int, text: str) -> Counts | None:
    if not text:
        return None
    found = {reason: int(count) for count, reason in _COUNT.findall(text)}
    duplicates = found.pop("duplicates", 0)
    candidates = selected + duplicates + sum(found.values())
    return Counts(candidates=candidates, selected=selected, duplicates=duplicates, dropped=found)


RENDERER = Renderer("terminal", render, read, shown_text)
