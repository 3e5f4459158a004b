"""Find the secret values in a text and replace them.

All work is done on UTF-8 bytes. One automaton searches for the words of all secret formats, and only the
formats whose words occur are matched. A value never spans a line end, so a redacted text has the same lines.
Of a PEM private key the BEGIN and END lines and every line between them stay; only the key material is
replaced. Keys inside string literals, on one line or several, are found as well.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from satchel.walking.secret_formats import SECRET_FORMATS, SecretFormat

_PRIVATE_KEY = "PRIVATE KEY"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_PASSWORDS = frozenset(("url-password", "nuget-password"))
# Most files contain `://`, so a password is searched for only where a user name could stand before it.
_URL_WITH_USER = re.compile(rb"://[^\s/@]{0,280}@")

# Dots inside a value stand for omitted characters; dots after it end the sentence.
_FILLER = re.compile(rb"x{6}|X{6}|\*{3}|\.{3}[^.]|(?i:your[-_]|placeholder|redacted|changeme|insert[-_])")
_WITH_PREFIX = 16  # bytes; a shorter value has no prefix, so all of it must vary
_DEFAULT_PASSWORDS = frozenset(
    b"""
    password passwd pass passwort pw pwd secret mysecret changeme change-me change_me example sample test
    testing user username userpass admin root guest postgres mysql mariadb mongo redis rabbitmq foo bar baz
    foobar bar:baz token mypassword my-password my_password yourpassword p4ssw0rd passw0rd p@ssword p@ssw0rd
    123 1234 12345 123456 port
    """.split()
)
# `$password` and `%s` are variables; `%24uper` and `$ecr3t` are passwords, the first one encoded. A value
# of a few percent escapes and nothing else is test data of an encoder.
_VARIABLE = re.compile(
    rb"^%(?![0-9A-Fa-f]{2})|^(?:%[0-9A-Fa-f]{2}){1,4}$|^\$(?:[{(]|[A-Z_][A-Z0-9_]*$|[A-Za-z_]+[0-9]{0,2}$|[0-9]+$)"
    rb"|^[{<*:#]|^[A-Z_]+$|\$\{|\{\{|^\*+$|%[(s]"
)
_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_NEXT_MARKER = re.compile(rb"-----(?:END|BEGIN) ")
_MAX_KEY_BYTES = 32 * 1024  # an RSA key of 16,384 bits takes 13 kB
# Escaped line ends come first, because the `n` of `\n` is not key material. A line end before a run is
# matched with it, and so are quoting marks: looking back for them from each run would take quadratic time.
_PIECE = re.compile(rb"\\[nrt]|(?:[\r\n][ \t\"'>|#*;]*+)?([A-Za-z0-9+/=]+)")
_MARGIN = rb"[ \t\"'>|#*;,+]*+"  # marks that quote a line: of a string, a comment, a diff or YAML
_KEY_LINE_END = rb"(?:\r\n|\n|\r|$)"
_HEADER = re.compile(rb"^" + _MARGIN + rb"[A-Z][A-Za-z-]+: [^\r\n]*", re.MULTILINE)  # Proc-Type, Version
# For a key without its END only documented headers count, because code may follow it.
_HEADER_LINE = re.compile(
    _MARGIN + rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): [^\r\n]*" + _KEY_LINE_END
)
# All parts are possessive: with backtracking, 32 kB of `+`, which each part matches, would take minutes.
_KEY_LINE = re.compile(_MARGIN + rb"[A-Za-z0-9+/=]*+[ \t\"',;+\\nr]*+" + _KEY_LINE_END)
_ESCAPED_LINES = re.compile(rb"(?:\\[nrt])+[^\r\n\"'`]*")  # the key continues inside the string
_LONG_PIECE = 40  # characters; a line of a key has 64, and words of code are shorter
_SHORT_PIECE = 8
_MIXED = 10  # different characters; a ruler of `=` has one
_KEY_SHARE = 0.6  # of the text between the markers; code that mentions both markers has less


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets. `lines` has the line of each replaced value, ascending."""

    text: str
    lines: tuple[int, ...] = ()


def redact(text: str) -> Redacted:
    """Return the text with each secret value replaced by `«redacted:kind»`. The number of lines does not
    change."""
    raw = text.encode("utf-8", "surrogatepass")
    words = _hint_words_in(raw)
    if not words:
        return Redacted(text)
    values = list(_without_overlaps(_secret_values(raw, words)))
    if not values:
        return Redacted(text)
    starts = [0, *(found.end() for found in _LINE_END.finditer(raw))]
    lines = tuple(bisect_right(starts, start) for start, _, _ in values)
    return Redacted(_replace_values(raw, values).decode("utf-8", "surrogatepass"), lines)


def holds_secret(name: str) -> bool:
    """Return whether the name of a file or folder contains a secret value. The words are searched for without
    the automaton, because building it takes longer than walking a small tree."""
    return _has_hint_word(name) and bool(redact(name).lines)


def _has_hint_word(name: str) -> bool:
    """Return whether a name contains a word of any secret format."""
    starts, any_case = _hint_words()
    for at in range(len(name) - 1):
        words = starts.get(name[at : at + 2])
        if words is not None and name.startswith(words, at):
            return True
    lowered = name.lower()
    return any(word in lowered for word in any_case)


def _secret_values(raw: bytes, words: set[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of each secret value. Values may overlap."""
    if _PRIVATE_KEY in words:
        for start, end in _private_key_values(raw):
            yield start, end, "private-key"
    for number, rule in enumerate(SECRET_FORMATS):
        if words.isdisjoint((rule.hint,) if rule.hint else rule.words):
            continue
        accepted = _is_password if rule.kind in _PASSWORDS else _is_token
        position = 0
        search = _pattern(number).search
        while (found := search(raw, position)) is not None:
            # The border after this value may be the border before the next one.
            start, position = found.span(1)
            if accepted(raw[start:position], rule):
                yield start, position, rule.kind


def _is_token(value: bytes, rule: SecretFormat) -> bool:
    """Return whether a matched value is a real token. Documented examples count; fillers (`sk-xxxx`, one
    letter repeated) do not."""
    own = value[8:] if len(value) >= _WITH_PREFIX else value
    if len(set(own)) < rule.variety or _FILLER.search(value):
        return False
    return not rule.holds or re.search(rule.holds.encode(), value) is not None


def _is_password(value: bytes, _: SecretFormat) -> bool:
    """Return whether a matched value is a real password, not a default, a variable or a filler."""
    lowered = value.lower()
    if lowered in _DEFAULT_PASSWORDS or _VARIABLE.search(value) or _FILLER.search(value):
        return False
    if all(part in _DEFAULT_PASSWORDS for part in lowered.split(b"@") if part):
        return False  # `foo:bar@baz@host` is test data of a parser
    return len(set(value)) > 1


def _without_overlaps(values: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the values without overlaps: the first and longest of overlapping values, extended over the
    others."""
    last: tuple[int, int, str] | None = None
    for start, end, kind in sorted(values, key=lambda value: (value[0], -value[1], value[2])):
        if last is not None and start < last[1]:
            last = (last[0], max(last[1], end), last[2])
            continue
        if last is not None:
            yield last
        last = (start, end, kind)
    if last is not None:
        yield last


def _replace_values(raw: bytes, values: list[tuple[int, int, str]]) -> bytes:
    pieces: list[bytes] = []
    masks = {kind: f"«redacted:{kind}»".encode() for kind in {kind for _, _, kind in values}}
    done = 0
    for start, end, kind in values:
        pieces += (raw[done:start], masks[kind])
        done = end
    return b"".join((*pieces, raw[done:]))


def _hint_words_in(raw: bytes) -> set[str]:
    """Return the words of secret formats that occur in a text."""
    automaton, words = _word_automaton()
    found = {words[number] for number in automaton.Match(raw) or ()}
    if b"://" in raw and b"@" in raw and _URL_WITH_USER.search(raw):
        found.add("://")
    return found


@cache
def _hint_words() -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the words that are matched as written, grouped by their first two characters, and those matched
    in any case."""
    starts: dict[str, tuple[str, ...]] = {}
    for word in {word for rule in SECRET_FORMATS if not rule.any_case for word in rule.words}:
        starts[word[:2]] = (*starts.get(word[:2], ()), word)
    return starts, sorted({word for rule in SECRET_FORMATS if rule.any_case for word in rule.words})


@cache
def _word_automaton() -> tuple[Any, list[str]]:
    """Return an automaton for all words, and the words by number. A plain alternation would not do, because
    `sk-` would hide `sk-ant-`."""
    import re2

    looked_for = {_PRIVATE_KEY: re.escape(_PRIVATE_KEY)}
    for rule in SECRET_FORMATS:
        if rule.hint:
            looked_for[rule.hint] = rule.hint
            continue
        # If one format matches a word in any case, the word is searched for in any case.
        for word in rule.words:
            if rule.any_case or word not in looked_for:
                looked_for[word] = ("(?i)" if rule.any_case else "") + re.escape(word)
    del looked_for["://"]
    automaton = re2.Set.SearchSet(_bytewise_options())
    for pattern in looked_for.values():
        automaton.Add(pattern)
    automaton.Compile()
    return automaton, list(looked_for)


@cache
def _pattern(number: int) -> Any:
    """Return the compiled pattern of one format. Most texts need few of them, and compiling all takes 40
    ms."""
    import re2

    return re2.compile(SECRET_FORMATS[number].pattern.encode(), _bytewise_options())


def _bytewise_options() -> Any:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # every byte is a character, so any text can be matched
    return options


def _private_key_values(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each run of key material of PEM private keys. No run contains a line end."""
    position = 0
    while (begin := _BEGIN.search(raw, position)) is not None:
        start = begin.end()
        position = _end_of_key(raw, start)
        yield from _key_material(raw, start, position)


def _key_material(raw: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Return the runs of key material between the start and the end of a key."""
    headers = [found.span() for found in _HEADER.finditer(raw, start, end)]
    pieces = list(_base64_runs(raw, start, end, headers))
    long = [found.span(1) for found in pieces if _is_key_line(found[1])]
    total = len(b"".join(raw[start:end].split())) - sum(last - first for first, last in headers)
    if sum(len(found[1]) for found in pieces) < _KEY_SHARE * total:
        return long
    return [found.span(1) for found in pieces if _belongs_to_key(found)] if long else []


def _base64_runs(
    raw: bytes, start: int, end: int, headers: list[tuple[int, int]]
) -> Iterator[re.Match[bytes]]:
    """Yield the runs of base64 characters before, between and after the headers of a key."""
    ends = [start, *(last for _, last in headers)]
    for first, last in zip(ends, [*(first for first, _ in headers), end], strict=True):
        yield from (found for found in _PIECE.finditer(raw, first, last) if found[1])


def _is_key_line(piece: bytes) -> bool:
    """Return whether a run is as long and as mixed as a line of a key."""
    return len(piece) >= _LONG_PIECE and len(set(piece)) >= _MIXED


def _belongs_to_key(found: re.Match[bytes]) -> bool:
    """Return whether a run is key material. A short run is a word of the code around a key, unless its line
    starts with it."""
    return len(found[1]) >= _SHORT_PIECE or found.start() < found.start(1)


def _end_of_key(raw: bytes, start: int) -> int:
    """Return the position of the next marker, or for a key without an END marker the end of the last line
    that looks like a part of it."""
    limit = min(len(raw), start + _MAX_KEY_BYTES)
    marker = _NEXT_MARKER.search(raw, start, limit)
    if marker is not None:
        return marker.start()
    escaped = _ESCAPED_LINES.match(raw, start, limit)
    position = escaped.end() if escaped else start
    while position < limit and (line := _line_of_key(raw, position, limit)) is not None:
        position = line.end()
    return position


def _line_of_key(raw: bytes, position: int, limit: int) -> re.Match[bytes] | None:
    """Return the match of a line that belongs to a key without an END marker."""
    return _KEY_LINE.match(raw, position, limit) or _HEADER_LINE.match(raw, position, limit)
