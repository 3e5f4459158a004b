"""One file → training pairs: what a person would say, and the terms of what it is said about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from satchel.chunking import parse_source
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.terms import terms
from satchel.types import ChunkKind, Symbol


class PairKind(StrEnum):
    """Where the words of a pair come from."""

    DOC = "doc"  # sentence of a definition's documentation → its name and body
    NAME = "name"  # name of a definition → its body
    HEAD = "head"  # comment or docstring at the head of a file → the whole file
    HEADING = "heading"  # heading of a section → its text
    COMMENT = "comment"  # comment inside code → the lines that follow


class Pair(NamedTuple):
    """Terms of the saying, and terms with counts of what it is about."""

    kind: PairKind
    said: tuple[str, ...]
    about: tuple[tuple[str, int], ...]


MOST_SAID = 24  # terms; what people ask is shorter still
MOST_ABOUT = 120  # distinct terms, about what a chunk holds
LEAST_ABOUT = 4  # distinct terms; less says nothing
FOLLOWING_LINES = 8  # of code that a comment can be about
SENTENCE_END = re.compile(r"(?<=[.!?:])\s|\n\s*\n|\n\s*[@:\\]\w+|\n\s*[-*] ")
CALLABLE = (ChunkKind.FUNCTION, ChunkKind.METHOD)
LICENCE = re.compile(r"licen[cs]e|copyright|spdx|warrant|permission|all rights|generated|auto-?gen", re.I)
CODE = re.compile(r"[;={}()\[\]]")  # many of these: a statement that was commented out
MARKUP = re.compile(r"^[\s/*#;!<>\"'`{}|=~+-]+", re.M)


def pairs(text: str, language: str) -> Iterator[Pair]:
    """Every pair of one file, best kinds first inside each definition."""
    parsed = parse_source(text, language)
    lines = split_lines(text)
    code = _without_comments(lines, parsed)
    for symbol in parsed.symbols:
        yield from _of_symbol(symbol, code)
    yield from _of_head(lines, code, parsed)
    yield from _of_headings(parsed)
    yield from _of_comments(lines, code, parsed)


def _without_comments(lines: list[str], parsed: Parsed) -> list[str]:
    code = list(lines)
    for first, last in parsed.comments:
        code[first - 1 : last] = [""] * (last - first + 1)
    return code


def _of_symbol(symbol: Symbol, code: list[str]) -> Iterator[Pair]:
    body = "".join(code[symbol.start_line - 1 : symbol.end_line])
    if sentence := _first_sentence(symbol.doc):
        yield from _pair(PairKind.DOC, sentence, body)
    if (
        symbol.kind is not ChunkKind.SECTION and symbol.end_line - symbol.start_line >= 2
    ):  # a constant's or a one-liner's name says what stands there
        yield from _pair(PairKind.NAME, symbol.name, body.replace(symbol.name, " ", 1))


def _of_head(lines: list[str], code: list[str], parsed: Parsed) -> Iterator[Pair]:
    starts = {symbol.start_line for symbol in parsed.symbols}
    for first, last in parsed.comments[:3]:  # a licence or an encoding line may stand before it
        if first > 40 or last + 1 in starts:  # the latter documents a definition, not the file
            return
        if sentence := _first_sentence(MARKUP.sub("", "".join(lines[first - 1 : last]))):
            yield from _pair(PairKind.HEAD, sentence, "".join(code))
            return


def _of_headings(parsed: Parsed) -> Iterator[Pair]:
    for chunk in parsed.chunks:
        if chunk.kind is ChunkKind.SECTION and chunk.title_path:
            yield from _pair(PairKind.HEADING, " ".join(chunk.title_path[-2:]), chunk.body)


def _of_comments(lines: list[str], code: list[str], parsed: Parsed) -> Iterator[Pair]:
    inside = [(symbol.start_line, symbol.end_line) for symbol in parsed.symbols if symbol.kind in CALLABLE]
    for first, last in parsed.comments:
        if any(start < first and last < end for start, end in inside):
            sentence = _first_sentence(MARKUP.sub("", "".join(lines[first - 1 : last])))
            if len(sentence.split()) >= 3 and len(CODE.findall(sentence)) < 3:
                yield from _pair(PairKind.COMMENT, sentence, _following(code, last))


def _following(code: list[str], line: int) -> str:
    taken: list[str] = []
    for text in code[line : line + FOLLOWING_LINES]:
        if not text.strip() and taken:
            break
        taken.append(text)
    return "".join(taken)


def _first_sentence(text: str) -> str:
    if not text or LICENCE.search(text):
        return ""
    return SENTENCE_END.split(text.strip(), maxsplit=1)[0]


def _pair(kind: PairKind, said: str, about: str) -> Iterator[Pair]:
    said_terms = tuple(dict.fromkeys(term for term in terms(said) if term[0] != "="))[:MOST_SAID]
    counts = Counter(term for term in terms(about) if term[0] != "=")
    least_said = 1 if kind in (PairKind.NAME, PairKind.HEADING) else 2
    if len(said_terms) >= least_said and len(counts) >= LEAST_ABOUT:
        yield Pair(kind, said_terms, tuple(counts.most_common(MOST_ABOUT)))
