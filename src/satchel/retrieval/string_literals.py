"""Which lines hold a text, and what do their string literals say?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.required_text import Part
from satchel.retrieval.text_scan import candidate_units, content_of

TESTS = 2  # of `aside`
LONGEST_LINE = 1_000  # characters; longer lines are data
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')


def literals(line: str) -> Iterator[str]:
    """Yield what the string literals of a line say, empty ones left out."""
    for match in _LITERAL.finditer(line):
        text = match[match.lastindex or 0]
        if text:
            yield text


def is_code(corpus: Corpus, at: int) -> bool:
    """Return whether a file is in a programming language."""
    return corpus.is_code(corpus.files[at].path)


def aside(corpus: Corpus, at: int) -> int:
    """Return 0 for code, 1 for anything else, 2 for tests and examples, which repeat what code says."""
    if not {"test", "example"}.isdisjoint(corpus.files[at].tags):
        return TESTS
    return 0 if is_code(corpus, at) else 1


def files_with(corpus: Corpus, text: str) -> list[int]:
    """Return the files with a unit that holds the words of a text, in any case of letters; none if the text
    has no word."""
    units = candidate_units(corpus, [(Part(text, whole=True, folded=True),)])
    if units is None:
        return []
    return list(dict.fromkeys(corpus.file_of[units].tolist()))


def lines_with(corpus: Corpus, at: int, text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line of a file that holds a text, in any case of letters."""
    content = content_of(corpus, at)
    lowered, wanted = content.lower(), text.lower().encode("utf-8", "surrogatepass")
    place = lowered.find(wanted)
    number, counted = 1, 0
    while place >= 0:
        number, counted = number + content.count(b"\n", counted, place), place
        start = content.rfind(b"\n", 0, place) + 1
        end = content.find(b"\n", place)
        yield number, content[start : end if end >= 0 else len(content)].decode("utf-8", "replace")
        place = lowered.find(wanted, max(end, place + 1)) if end >= 0 else -1
