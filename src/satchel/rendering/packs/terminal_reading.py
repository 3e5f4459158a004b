"""A pack that was saved from the screen, read again: the gutter tells code from citations."""

from __future__ import annotations

import re
import shlex

import msgspec

from satchel.packing.citation import Citation, CitedPack
from satchel.packing.pack import Counts
from satchel.rendering.packs.citation_line import LOCATOR, PROOF, line_start, read_match
from satchel.rendering.packs.headline import Headline, read_headline
from satchel.rendering.packs.sectioned import SECTIONS
from satchel.rendering.packs.text_reading import cut, not_ours, pack_lines
from satchel.types import Suggestion

TITLE = "Context pack:"
GUTTER = "│"
WHY = "  · "
BETWEEN = " — "
LEFT_OUT = "left out: "
MISSING = "missing: "
NEXT = "next: "
ITEM_LINE = re.compile(  # the reason begins with two spaces, the first of which starts no symbol
    rf"{LOCATOR}(?:  (?P<kind>[\w-]+)(?:(?!{WHY}) (?P<symbol>.*?))?)?(?:{WHY}(?P<why>.*))?"
)
PROOF_LINE = re.compile(rf"  {PROOF} score (?P<score>[-+.\w]+)(?:, \d+ redacted)?")
GUTTER_LINE = re.compile(rf"(?P<gutter> +\d+ {GUTTER})(?: (?P<code>.*))?")
_SECTION = re.compile(r"(\w+) \(\d+\)")
_BAR = re.compile(r"  \[[█·]+\] \d+ %")
_COUNT = re.compile(r"(\d{1,9}) (\w+)")


def read(text: str) -> CitedPack | None:
    """The citations of such a text; None if it is none."""
    lines = pack_lines(text)
    if len(lines) < 2 or not lines[0].startswith(TITLE):
        return None
    head = read_headline(_BAR.sub("", lines[1]))
    return _Reading(lines, head).cited() if head is not None else None


class _Reading:
    def __init__(self, lines: list[str], head: Headline) -> None:
        self._lines = lines
        self._head = head
        self._section = ""
        self._citations: list[Citation] = []
        self._found: dict[str, list[str]] = {LEFT_OUT: [], MISSING: [], NEXT: []}
        place = 2
        while place < len(lines):
            place = self._step(place)

    def cited(self) -> CitedPack:
        pack = self._head.cited("terminal", self._lines[0].removeprefix(TITLE).strip(), self._citations)
        return msgspec.structs.replace(
            pack,
            hints=tuple(self._found[MISSING]),
            next_queries=tuple(map(_suggestion, self._found[NEXT])),
            counts=_counts(len(self._citations), "".join(self._found[LEFT_OUT])),
        )

    def _step(self, place: int) -> int:
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
        match = ITEM_LINE.fullmatch(line)
        if match is None or match["path"] is None:
            raise not_ours(f"line {place + 1} is not part of it: {line_start(line)}")
        rest = self._lines[place + 1] if place + 1 < len(self._lines) else ""
        proof = PROOF_LINE.fullmatch(rest)
        if proof is None:
            raise cut(f"the hash of {line_start(line)} is not there")
        end = place + 2
        code = []
        while end < len(self._lines) and (row := GUTTER_LINE.fullmatch(self._lines[end])):
            code.append(row["code"] or "")
            end += 1
        citation = self._citation(match, proof, "\n".join(code))
        if len(code) != citation.end_line - citation.start_line + 1:
            raise cut(f"the text of {citation.locator} has {len(code)} lines")
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
        raise not_ours("a score is no number") from error


def _suggestion(text: str) -> Suggestion:
    command, _, reason = text.partition(BETWEEN)
    try:
        query = shlex.split(command)[2:3]
    except ValueError:  # the reason's mark stood in the query
        query = [command]
    return Suggestion("".join(query), reason)


def _counts(selected: int, text: str) -> Counts | None:
    if not text:
        return None
    found = {reason: int(count) for count, reason in _COUNT.findall(text)}
    duplicates = found.pop("duplicates", 0)
    candidates = selected + duplicates + sum(found.values())
    return Counts(candidates=candidates, selected=selected, duplicates=duplicates, dropped=found)
