"""What text is looked for? A literal or a regular expression, matched against the bytes of one file.

Regular expressions run on RE2, in linear time, and never match a line end: a match lies in one line. Literals
are found by the search of Python's own bytes, which counts Django's 26 MB in 10 to 35 ms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Any

import msgspec

from satchel.errors import InvalidQuery
from satchel.retrieval.required_text import Clause, Part, parts_of_expression

LONGEST_PATTERN = 1_000  # characters; RE2 compiles a pattern of this length in a few milliseconds
_PROGRAM_BYTES = 8 << 20  # memory that RE2 may take for one expression
_WORD_BYTES = frozenset(b"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LONGEST_CHARACTER = 4  # bytes in UTF-8


class PatternOptions(msgspec.Struct, frozen=True):
    """How a pattern is read. With `word`, no letter, digit or `_` stands before or after a match."""

    regex: bool = False
    ignore_case: bool = False
    word: bool = False


class TextPattern:
    """A compiled pattern. `required` are the texts that every matching line holds, as far as they are
    known."""

    def __init__(self, text: str, options: PatternOptions) -> None:
        _check(text)
        self.text, self.options = text, options
        self._literal = text.encode("utf-8", "surrogatepass")
        # ASCII letters alone change case in a literal of ASCII: in Unicode `k` would also match the sign of
        # Kelvin, which is no part of any indexed word.
        self._lowers = options.ignore_case and not options.regex and text.isascii()
        if self._lowers:
            self._literal = self._literal.lower()
        self._is_plain = not options.regex and not options.word and options.ignore_case == self._lowers
        self._expression: Any = None if self._is_plain else self._compiled()
        self.required: tuple[Clause, ...] = self._required()
        # How many matches a content has. Matches do not overlap. A plain literal needs no code of Python.
        self.count: Callable[[bytes], int] = (
            methodcaller("count", self._literal) if self._is_plain and not self._lowers else self._count
        )

    def _required(self) -> tuple[Clause, ...]:
        if self.options.regex:
            return parts_of_expression(self.text, ignore_case=self.options.ignore_case)
        folds = self.options.ignore_case
        part = Part(self.text, whole=self.options.word, folded=folds, unicode_folds=not self.text.isascii())
        return ((part,),)

    def _compiled(self) -> Any:
        if not self.options.regex and self.options.ignore_case == self._lowers:
            return self._word_expression()
        expression = self.text if self.options.regex else _quoted(self.text)
        if self.options.word and self.options.regex:
            # By itself first: `a)|(b` is no expression, but would be one between the ends of a group.
            compile_expression(expression, ignore_case=self.options.ignore_case)
        if self.options.word:
            expression = rf"\b(?:{expression})\b" if self.options.regex else _bounded(self.text, expression)
        return compile_expression(expression, ignore_case=self.options.ignore_case)

    def _word_expression(self) -> re.Pattern[bytes]:
        """Return the expression of a literal between word boundaries. The literal comes first, because then
        the engine skips to it; it cannot backtrack."""
        literal = re.escape(self._literal)
        before = rb"(?<!\w" + literal + rb")" if self._literal[0] in _WORD_BYTES else b""
        after = rb"(?!\w)" if self._literal[-1] in _WORD_BYTES else b""
        return re.compile(literal + before + after)

    def _count(self, content: bytes) -> int:
        content = content.lower() if self._lowers else content
        if self._is_plain:
            return content.count(self._literal)
        if self._needs_check(content):
            return sum(1 for _ in self.spans(content))
        return len(self._expression.findall(content))

    def spans(self, content: bytes) -> Iterator[tuple[int, int]]:
        """Yield where each match starts and ends."""
        content = content.lower() if self._lowers else content
        if self._is_plain:
            yield from _occurrences(content, self._literal)
            return
        check = self._needs_check(content)
        for match in self._expression.finditer(content):
            start, end = match.span()
            if not check or self._stands_alone(content, start, end):
                yield start, end

    def _needs_check(self, content: bytes) -> bool:
        """Return whether letters beyond ASCII may stand beside a match that has to be a whole word."""
        return self.options.word and not self.options.regex and not content.isascii()

    def _stands_alone(self, content: bytes, start: int, end: int) -> bool:
        before = content[max(0, start - _LONGEST_CHARACTER) : start].decode("utf-8", "ignore")[-1:]
        after = content[end : end + _LONGEST_CHARACTER].decode("utf-8", "ignore")[:1]
        first, last = self.text[0], self.text[-1]
        return not (_is_word(before) and _is_word(first)) and not (_is_word(after) and _is_word(last))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _occurrences(content: bytes, literal: bytes) -> Iterator[tuple[int, int]]:
    size = len(literal)
    at = content.find(literal)
    while at >= 0:
        yield at, at + size
        at = content.find(literal, at + size)


def _quoted(text: str) -> str:
    import re2

    quoted: str = re2.escape(text)
    return quoted


def _bounded(text: str, expression: str) -> str:
    """Return the expression of a literal that no ASCII word goes on before or behind."""
    before = r"\b" if ord(text[0]) < 128 and ord(text[0]) in _WORD_BYTES else ""
    after = r"\b" if ord(text[-1]) < 128 and ord(text[-1]) in _WORD_BYTES else ""
    return f"{before}{expression}{after}"


def compile_expression(expression: str, *, ignore_case: bool = False) -> Any:
    """Return a compiled RE2 expression over bytes, in which `^` and `$` are the ends of lines."""
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.max_mem = _PROGRAM_BYTES
    options.case_sensitive = not ignore_case
    try:
        compiled = re2.compile(b"(?m)" + expression.encode("utf-8"), options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else "unknown"
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidQuery(
            f"the regular expression cannot be used: {told}",
            hint="RE2 has no look-around and no back references; without `regex` the text is taken as it is",
        ) from None
    if compiled.search(b"") is not None:
        raise InvalidQuery(
            "the regular expression also matches empty text, so it would match every line",
            hint="leave out what is optional at both ends",
        )
    return compiled


def _check(text: str) -> None:
    """Raise a typed error for a pattern that cannot be looked for."""
    if not isinstance(text, str) or not text:
        raise InvalidQuery("the pattern is empty", hint="give the text to look for")
    if len(text) > LONGEST_PATTERN:
        raise InvalidQuery(
            f"the pattern has {len(text):,} characters, the limit is {LONGEST_PATTERN:,}",
            hint="give a part of it",
        )
    if "\n" in text or "\r" in text:
        raise InvalidQuery(
            "the pattern holds a line end, and lines are matched one by one", hint="give one of the lines"
        )
