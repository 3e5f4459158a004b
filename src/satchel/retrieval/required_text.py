"""Which indexed words must a line hold that a pattern matches? So that most files need not be read.

A requirement is a list of clauses. Every clause holds for each matching line, and a clause holds if one of
its parts is in the line. Only a whole token of a part says something: one with a separator on each side, as
the terms of a text are split at separators (`terms`). A token at the end of a part may go on in the text.
Nothing here may miss a line, so whatever is in doubt is left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from satchel.terms import stem, terms_of_token, words

# In these, RE2 and Python's parser read the same characters in two ways.
_READ_OTHERWISE = ("[:", "[[", "(?x", "\\Z", "\\b]")
_RUN = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_FOLDED_BEYOND = frozenset("ksKS")  # ASCII letters that equal a letter beyond ASCII where case is ignored
_LONGEST_TOKEN = 128  # characters; `terms` gives longer tokens no term


class Part(msgspec.Struct, frozen=True):
    """A text that may stand in a line. `whole`: no word goes on before or behind it. `folded`: in any case of
    letters, also that of letters beyond ASCII with `unicode_folds`."""

    text: str
    whole: bool = False
    folded: bool = False
    unicode_folds: bool = False

    def terms(self) -> list[tuple[str, ...]]:
        """Return the terms that a line with this text has: of each tuple at least one."""
        encoded = self.text.encode("utf-8", "surrogatepass")
        found: dict[tuple[str, ...], None] = {}
        for match in _RUN.finditer(encoded):
            inside = match.start() > 0 and match.end() < len(encoded)
            if inside or (self.whole and match[0].isascii()):
                for alternatives in self._terms_of(match[0]):
                    found[alternatives] = None
        return list(found)

    def _terms_of(self, token: bytes) -> Iterator[tuple[str, ...]]:
        if not self.folded:
            yield from ((term,) for term in terms_of_token(token))
            return
        if not token.isascii() or token[:1].isdigit() or len(token) > _LONGEST_TOKEN:
            return
        written = token.decode()
        if self.unicode_folds and not _FOLDED_BEYOND.isdisjoint(written):
            return
        # `routerGroup` is split where its letters change case, so it has the term of the whole name; in one
        # case it may be a single word.
        joined = "".join(words(written.lower()))
        single = (stem(joined),) if joined.isalpha() and "_" not in written.strip("_") else ()
        if joined:
            yield (*single, f"={joined}")


Clause = tuple[Part, ...]


def parts_of_expression(expression: str, *, ignore_case: bool) -> tuple[Clause, ...]:
    """Return what every match of a regular expression holds; nothing where that is not sure."""
    if any(mark in expression for mark in _READ_OTHERWISE):
        return ()
    from re import _parser  # type: ignore[attr-defined]  # rarely needed

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parsed = _parser.parse(expression)
    except (re.error, RecursionError, OverflowError, Warning):
        return ()  # RE2 knows constructs that Python does not
    folded = ignore_case or bool(parsed.state.flags & re.IGNORECASE)
    return tuple(_clauses(parsed, folded))


def _clauses(nodes: Iterable[tuple[Any, Any]], folded: bool) -> Iterator[Clause]:
    """Yield the clauses of parsed nodes that follow each other."""
    run: list[str] = []
    for operator, argument in nodes:
        name = operator.name
        if name == "LITERAL":
            run.append(chr(argument))
            continue
        if run:
            yield (_part("".join(run), folded),)
            run = []
        yield from _clauses_of(name, argument, folded)
    if run:
        yield (_part("".join(run), folded),)


def _clauses_of(name: str, argument: Any, folded: bool) -> Iterator[Clause]:
    """Yield the clauses of one node that is no literal."""
    if name == "SUBPATTERN":
        _, added, removed, nodes = argument
        if not removed:
            yield from _clauses(nodes, folded or bool(added & re.IGNORECASE))
    elif name in ("MAX_REPEAT", "MIN_REPEAT"):
        least, _, nodes = argument
        if least:
            yield from _clauses(nodes, folded)
    elif name == "BRANCH":
        _, branches = argument
        chosen = [_longest(list(_clauses(nodes, folded))) for nodes in branches]
        if all(chosen):
            yield tuple(part for clause in chosen for part in clause)


def _part(text: str, folded: bool) -> Part:
    return Part(text, folded=folded, unicode_folds=folded)


def _longest(clauses: Sequence[Clause]) -> Clause:
    """Return the clause that tells most: that with the longest shortest part."""
    return max(clauses, key=lambda clause: min(len(part.text) for part in clause), default=())
