"""Translate a line of an ignore file, as git reads it, into an RE2 expression.

pathspec translates the segments of a pattern. What stands inside a segment is translated here, because git's
character sets (`[[:alpha:]_]`, `[\\]x]`, `[z-ab]`) are not those of Python's expressions, to which pathspec
hands them: lines with such sets matched other files than git matches, or none. Git compares bytes, and so do
these expressions: `?` is one byte of a name in UTF-8.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# How pathspec writes the end of an expression, and what it then matches:
_FOLDER = "(?P<ps_d>/)"  # a folder
_FOLDER_OR_END = f"(?:{_FOLDER}|$)"  # a folder or a file
_ANYTHING = "."  # `*` and `**`
_INSIDE = "/"  # the content of a folder (`logs/**`), not the folder itself; alone it is `**/*/**`

_STARS = re.compile(r"\*{3,}")
_STARS_ALONE = re.compile(r"(?:^|/)\*\*+$")
_LITERAL = re.compile(r"[^*?\[\\]*")
_NO_BYTE = r"[^\x00-\xff]"
_SLASH = ord("/")
_ALL_BYTES = frozenset(range(256))
_PUNCTUATION = frozenset(map(ord, string.punctuation))
_LETTERS = frozenset(map(ord, string.ascii_letters))
_DIGITS = frozenset(map(ord, string.digits))
_CLASSES = {
    "alnum": _LETTERS | _DIGITS,
    "alpha": _LETTERS,
    "blank": frozenset(b" \t"),
    "cntrl": frozenset({*range(32), 127}),
    "digit": _DIGITS,
    "graph": _PUNCTUATION | _LETTERS | _DIGITS,
    "lower": frozenset(map(ord, string.ascii_lowercase)),
    "print": _PUNCTUATION | _LETTERS | _DIGITS | {32},
    "punct": _PUNCTUATION,
    "space": frozenset(b" \t\n\v\f\r"),
    "upper": frozenset(map(ord, string.ascii_uppercase)),
    "xdigit": frozenset(map(ord, string.hexdigits)),
}


class Unmatchable(ValueError):
    """A line that matches nothing in git: an open set, an unknown character class, a trailing backslash."""


def expression(line: str) -> tuple[bytes, bool] | None:
    """Return the expression that matches the whole paths named by a line, and whether they are ignored (or
    included again). Paths of folders end with a slash. None means that the line matches nothing."""
    written = _trimmed(line.encode("utf-8", "surrogateescape").decode("latin-1"))
    negated = written.startswith("!")
    try:
        pattern = _normalize(written.removeprefix("!"))
        prefix = _literal_prefix(pattern)
        rest = f"/{pattern.removeprefix(prefix)}" if prefix else pattern
        found, include = _pattern_class().pattern_to_regex("!" * negated + rest)
    except ValueError:  # includes the errors of pathspec
        return None
    if found is None or include is None or pattern == "/":
        return None
    whole = _full_match(found)
    if prefix:
        whole = re.escape(prefix.removeprefix("/")) + whole.removeprefix("^").replace(".+", ".*", 1)
    return whole.encode("latin-1"), include


def _trimmed(line: str) -> str:
    """Return a line without trailing spaces; a space after a backslash stays."""
    end = at = 0
    while at < len(line):
        escaped = line[at] == "\\" and at + 1 < len(line)
        at += 2 if escaped else 1
        if escaped or line[at - 1] != " ":
            end = at
    return line[:end]


def _normalize(pattern: str) -> str:
    """Return a pattern in the spelling for which pathspec agrees with git."""
    tokens = _tokens(pattern)
    # No path starts with a slash, and a final slash only marks a folder, so an escaped slash there matches
    # nothing.
    if tokens and "\\/" in (tokens[0], tokens[-1]):
        raise Unmatchable
    anchored = "/" in pattern[:-1]
    tokens = [_without_slashes(tokens, at) if "/" in token else token for at, token in enumerate(tokens)]
    # pathspec would strip trailing white space.
    if tokens and tokens[-1][-1].isspace():
        tokens[-1] = f"[{tokens[-1][-1]}]"
    text = re.sub(_STARS, "**", "".join(tokens))
    # The only slash stood in a set, but it still anchors the pattern.
    if anchored and "/" not in text[:-1]:
        text = "/" + text
    if text.endswith("/**/"):
        # The pattern means every folder inside; pathspec would match the folder itself.
        text = text.removesuffix("/") + "/*/"
    return text


def _literal_prefix(pattern: str) -> str:
    """Return the literal text before the first wildcard of a path, if two stars follow it. Git compares that
    text by itself and then treats the stars as if the pattern began with them: `a**/b` matches `ab`, `ac/b`
    and `a/c/b`."""
    prefix = re.match(_LITERAL, pattern)
    assert prefix is not None
    literal = prefix[0]
    rest = pattern.removeprefix(literal)
    if "/" not in pattern[:-1] or literal.endswith("/") or not re.match(r"\*\*(?:/|$)", rest):
        return ""
    return literal


def _tokens(pattern: str) -> list[str]:
    """Return the parts of a pattern: escaped characters, sets and single characters."""
    parts = []
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "\\":
            if end == len(pattern):
                raise Unmatchable
            end += 1
        elif pattern[at] == "[":
            _, end = _set(pattern, end)
        parts.append(pattern[at:end])
        at = end
    return parts


def _without_slashes(tokens: list[str], at: int) -> str:
    """Return a token that contains a slash in a form that pathspec can read: a slash is never escaped, and a
    set has none. Two stars match no folder at all only before an unescaped slash."""
    token = tokens[at]
    if token == "\\/":
        return "/*/" if re.search(_STARS_ALONE, "".join(tokens[:at])) else "/"
    if token == "/":
        return token
    members, _ = _set(token, 1)
    return "".join(["[", *(f"\\{chr(member)}" for member in sorted(members - {_SLASH})), "]"])


def _set(pattern: str, at: int) -> tuple[frozenset[int], int]:
    """Return the bytes that a set matches and the position after it. `at` is the position after its
    bracket."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    members: set[int] = set()
    before: int | None = None  # the start of a range, if a range follows
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        sign = pattern[at : at + 1]
        if not sign:
            raise Unmatchable
        if sign == "[" and pattern[at + 1 : at + 2] == ":":
            close = pattern.find("]", at + 2)
            if close < 0:
                raise Unmatchable
            if close - 1 >= at + 2 and pattern[close - 1] == ":":
                name = pattern[at + 2 : close - 1]
                if name not in _CLASSES:
                    raise Unmatchable
                members |= _CLASSES[name]
                before, at = None, close + 1
                continue
        if sign == "-" and before is not None and pattern[at + 1 : at + 2] not in ("]", ""):
            last, at = _member(pattern, at + 1)
            members.update(range(before, last + 1))
            before = None
            continue
        before, at = _member(pattern, at)
        members.add(before)
    found = _ALL_BYTES - members if negated else frozenset(members)
    return found - {_SLASH}, at + 1


def _member(pattern: str, at: int) -> tuple[int, int]:
    """Return one character of a set, which may be escaped, and the position after it."""
    if pattern[at] == "\\":
        at += 1
    if at >= len(pattern):
        raise Unmatchable
    return ord(pattern[at]), at + 1


@cache
def _pattern_class() -> type[GitIgnoreSpecPattern]:
    """Return pathspec's pattern class with our translation of segments."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    class GitPattern(GitIgnoreSpecPattern):
        __slots__ = ()

        @staticmethod
        def _translate_segment_glob(pattern: str, range_error: Literal["literal", "raise"]) -> str:
            return _segment(pattern)

    return GitPattern


def _segment(pattern: str) -> str:
    """Return the expression of one segment of a path."""
    return "".join(map(_translated, _tokens(pattern)))


def _translated(token: str) -> str:
    """Return the expression of one token."""
    if token == "*":
        return "[^/]*"
    if token == "?":
        return "[^/]"
    if token.startswith("[") and token != "[":
        members, _ = _set(token, 1)
        return "[" + "".join(f"\\x{member:02x}" for member in sorted(members)) + "]" if members else _NO_BYTE
    return re.escape(token[-1])


def _full_match(found: str) -> str:
    """Return pathspec's expression, which searches in a path, as one that matches the whole path and nothing
    below it."""
    if found == _ANYTHING:
        return ".+"
    if found == _FOLDER:
        return ".*/"
    if found.endswith(_FOLDER_OR_END):
        return found.removesuffix(_FOLDER_OR_END) + "/?"
    if found.endswith(_FOLDER):
        return found.removesuffix(_FOLDER) + "/"
    if found.endswith(_INSIDE):
        return (".+/" if found == _INSIDE else found) + ".+"
    return found
