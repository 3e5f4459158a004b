"""Match paths against patterns. Every pattern of a caller or a repository runs on RE2, in linear time.

Python's `re` takes exponential time for some patterns (`*?*?*?…z`), and a hostile caller can choose the
pattern. The time of RE2 grows with the length of the patterns times the length of the path, so the length of
each pattern and of all patterns together is limited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from satchel.errors import InvalidRequest

LONGEST_PATTERN = 1_000  # characters; no system has a file name of more than 255
MOST_PATTERNS = 1_000  # in one list of a request
MOST_WILD_CHARS = 10_000  # of all patterns with wildcards in a request; the worst path takes 20 ms (measured)
_SET_CHARS = 50_000  # of expressions in one automaton; with more there is no memory for its states
_MATCHERS_KEPT = 256
_PART = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

Matcher = Callable[[str], bool]


class PatternSet:
    """RE2 expressions that are matched against a whole text in one pass. An expression that RE2 rejects
    matches nothing; its position is in `unusable`."""

    def __init__(self, expressions: Sequence[bytes], *, bytewise: bool = False) -> None:
        self.unusable: list[int] = []
        self._bytewise = bytewise
        self._automata: list[tuple[Callable[[bytes], list[int] | None], list[int]]] = []
        for group in _groups(expressions):
            self._add(expressions, group)

    def matcher(self) -> Callable[[bytes], object]:
        """Return a function that is true if any expression matches the text."""
        if len(self._automata) == 1:
            return self._automata[0][0]
        return lambda text: any(match(text) for match, _ in self._automata)

    def last(self, text: bytes) -> int:
        """Return the position of the last expression that matches, or -1."""
        last = -1
        for match, places in self._automata:
            found = match(text)
            if found:
                last = max(last, places[max(found)])
        return last

    def _add(self, expressions: Sequence[bytes], places: list[int]) -> None:
        """Compile some of the expressions into one automaton. If RE2 runs out of memory, compile each half on
        its own."""
        import re2

        automaton = re2.Set.FullMatchSet(_options(self._bytewise))
        taken = []
        for place in places:
            try:
                automaton.Add(expressions[place])
            except re2.error:
                self.unusable.append(place)
            else:
                taken.append(place)
        if not taken:
            return
        try:
            automaton.Compile()
        except re2.error:
            half = len(taken) // 2
            if not half:
                self.unusable += taken
                return
            self._add(expressions, taken[:half])
            self._add(expressions, taken[half:])
            return
        self._automata.append((automaton.Match, taken))


def has_wildcard(pattern: str) -> bool:
    """Return whether a path of a request is a glob."""
    return "*" in pattern or "?" in pattern


@lru_cache(_MATCHERS_KEPT)
def glob(pattern: str) -> Matcher:
    """Return a matcher for whole paths. `**` crosses folders, and so does a pattern without a slash."""
    return any_glob((pattern,))


def any_glob(patterns: Iterable[str]) -> Matcher:
    """Return a matcher that is true if any of the globs matches."""
    written = [_expression(pattern) for pattern in patterns]
    # An expression that is not valid text matches no indexed path.
    usable = [expression.encode() for expression in written if _is_text(expression)]
    matches = PatternSet(usable).matcher()
    return lambda path: bool(matches(path.encode("utf-8", "surrogatepass")))


def check_limits(lists: dict[str, Sequence[str]]) -> None:
    """Raise InvalidRequest if the patterns of a request are too long or too many. `lists` maps each field to
    its patterns."""
    for name, patterns in lists.items():
        longest = max(map(len, patterns), default=0)
        if longest > LONGEST_PATTERN:
            raise _too_much(name, f"a pattern of {longest} characters", LONGEST_PATTERN, "max_pattern_chars")
        if len(patterns) > MOST_PATTERNS:
            raise _too_much(name, f"{len(patterns)} patterns", MOST_PATTERNS, "max_patterns")
    wild = sum(len(pattern) for patterns in lists.values() for pattern in patterns if has_wildcard(pattern))
    if wild > MOST_WILD_CHARS:
        names = " and ".join(name for name, patterns in lists.items() if any(map(has_wildcard, patterns)))
        raise _too_much(names, f"globs of {wild} characters together", MOST_WILD_CHARS, "max_glob_chars")


def _too_much(name: str, what: str, limit: int, detail: str) -> InvalidRequest:
    return InvalidRequest(
        f"{name}: {what}, at most {limit} can be used",
        hint="name a folder, or use fewer and shorter patterns",
        details={"field": name, detail: limit},
    )


def _expression(pattern: str) -> str:
    """Return the RE2 expression of a glob."""
    if "/" not in pattern:
        pattern = "**/" + pattern
    expression = ""
    end = 0
    for match in _PART.finditer(pattern):
        expression += re.escape(pattern[end : match.start()]) + _MEANING[match.group()]
        end = match.end()
    return expression + re.escape(pattern[end:])


def _is_text(expression: str) -> bool:
    try:
        expression.encode()
    except UnicodeEncodeError:
        return False
    return True


def _groups(expressions: Sequence[bytes]) -> Iterable[list[int]]:
    """Yield positions of expressions in groups, each small enough for one automaton."""
    group: list[int] = []
    size = 0
    for place, expression in enumerate(expressions):
        if group and size + len(expression) > _SET_CHARS:
            yield group
            group, size = [], 0
        group.append(place)
        size += len(expression)
    if group:
        yield group


def _options(bytewise: bool) -> Any:
    import re2

    options = re2.Options()
    options.dot_nl = True  # a name may contain a line end
    options.log_errors = False
    options.never_capture = True
    if bytewise:
        options.encoding = re2.Options.Encoding.LATIN1
    return options
