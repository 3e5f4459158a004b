"""Split text into search terms. Documents and queries go through the same rules.

An identifier yields its words, split at camelCase and snake_case, lower-cased and lightly stemmed. If it has
more than one word it also yields the joined whole, marked by `=`: `RouterGroup` yields `rout`, `group` and
`=routergroup`. Text in scripts without spaces between words yields pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from satchel.caching import Cache

VERSION = 2  # counts up whenever the same text yields other terms; indexes are then rebuilt
_TOKEN = re.compile(r"\w+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SEPARATED = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256)
)
# The names in a written reference, in one pass: an expression that looks ahead to the end from each position
# takes minutes on a long name.
_NAMES = re.compile(r"[\w$]+")
_FILE_SUFFIXES = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".h", ".hpp", ".rb", ".php", ".lua", ".zig", ".proto")
_LONGEST_NUMBER = 5  # digits; longer ones are data, not names
_LONGEST_TOKEN = 128  # characters; longer ones are encoded data
_MEMO_LIMIT = 200_000  # distinct tokens remembered per process, about 60 MB

# (suffix, replacement, least letters before it); a plural is removed first, then one derivation.
_PLURALS = (("sses", "ss", 2), ("ies", "y", 2), ("xes", "x", 2), ("ches", "ch", 2), ("shes", "sh", 2))
_DERIVATIONS = (
    ("ization", "", 4),
    ("isation", "", 4),
    ("ation", "", 4),
    ("ition", "", 4),
    ("ator", "", 4),
    ("ating", "", 4),
    ("ated", "", 4),
    ("ate", "", 4),
    ("izer", "", 4),
    ("izing", "", 4),
    ("ized", "", 4),
    ("ize", "", 4),
    ("ment", "", 4),
    ("ness", "", 4),
    ("able", "", 4),
    ("ible", "", 4),
    ("ance", "", 5),
    ("ence", "", 5),
    ("ive", "", 5),
    ("ity", "", 4),
    ("tion", "t", 3),
    ("sion", "s", 3),
    ("ing", "", 3),
    ("ed", "", 3),
    ("er", "", 4),
    ("or", "", 4),
    ("ly", "", 4),
    ("al", "", 4),
)
_DERIVATIONS_BY_END = {  # most words end in none of these letters
    end: tuple(rule for rule in _DERIVATIONS if rule[0].endswith(end)) for end in "nrgdetyl"
}


@lru_cache(maxsize=_MEMO_LIMIT)
def stem(word: str) -> str:
    """Return a lower-case word without its plural and one common suffix: parsing, parser and parses become
    pars."""
    if len(word) < 4 or not word.isascii():
        return word
    word = _strip_plural(word)
    for suffix, replacement, least in _DERIVATIONS_BY_END.get(word[-1], ()):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)] + replacement
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]  # running → runn → run
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


def _strip_plural(word: str) -> str:
    for suffix, replacement, least in _PLURALS:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            return word[: -len(suffix)] + replacement
    if word.endswith("s") and word[-2] not in "sui":
        return word[:-1]
    return word


def words(token: str) -> list[str]:
    """Return the lower-case words of one identifier, unstemmed. Identifiers beyond ASCII are split at `_`
    only."""
    if not token.isascii():
        return [word.lower() for word in token.split("_") if word]
    return [word.lower() for word in _WORD.findall(token)]


def compound(token: str) -> str:
    """Return the term that stands for a whole identifier: its words joined, or the stem of its only word."""
    found = list(terms(token))
    return found[-1] if found else ""


def _is_unspaced(character: str) -> bool:
    """Return whether a character belongs to Thai, Japanese, Chinese or Korean."""
    return (
        "\u0e00" <= character <= "\u0e7f"
        or "\u3040" <= character <= "\u30ff"
        or "\u3400" <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7af"
    )


def _split(token: str) -> tuple[str, ...]:
    """Return the terms of one token."""
    if token.islower() and token.isascii() and token.isalpha():
        # The fast path: most tokens are plain words.
        return (stem(token),) if len(token) <= _LONGEST_TOKEN else ()
    if len(token) <= _LONGEST_TOKEN and token.islower() and token.isascii():
        joined = token.replace("_", "")
        if joined.isalpha():  # snake_case, which takes half as long without an expression
            stems = tuple(map(stem, filter(None, token.split("_"))))
            return (*stems, "=" + joined) if len(stems) > 1 else stems
    if token[0].isdigit():
        return (token,) if token.isascii() and token.isdigit() and len(token) <= _LONGEST_NUMBER else ()
    if len(token) > _LONGEST_TOKEN:
        return ()
    if not token.isascii() and any(map(_is_unspaced, token)):
        return tuple(token[i : i + 2] for i in range(max(1, len(token) - 1)))
    parts = words(token)
    result = [stem(part) for part in parts if len(part) > 1 or part.isalpha()]
    if len(parts) > 1:
        result.append("=" + "".join(parts))
    return tuple(result)


def terms_of_token(token: bytes) -> tuple[str, ...]:
    """Return the terms of one token of `encoded_tokens`."""
    text = token.decode("utf-8", "surrogatepass")
    if token.isascii():
        return _split(text)
    # Separators beyond ASCII, such as “quotes”, are not part of a word.
    return tuple(chain.from_iterable(map(_split, _TOKEN.findall(text))))


class _TermCache(Cache[bytes, tuple[str, ...]]):
    """The terms of tokens. Almost every token of a text was met before, so the cache saves most time."""

    def __missing__(self, token: bytes) -> tuple[str, ...]:
        return self.keep(token, terms_of_token(token))


_memo = _TermCache(_MEMO_LIMIT)


def terms_of_tokens(tokens: Iterable[bytes]) -> list[tuple[str, ...]]:
    """Return the terms of each of some tokens."""
    return list(map(_memo.__getitem__, tokens))


def encoded_tokens(text: str) -> list[bytes]:
    """Return the runs of letters, digits, `_` and non-ASCII characters of a text, as UTF-8."""
    # Bytes, because translate and split take a third of the time of a regular expression over text.
    return separate_tokens(text.encode("utf-8", "surrogatepass")).split()


def separate_tokens(encoded: bytes) -> bytes:
    """Return a text in UTF-8 with a blank for every byte that belongs to no token."""
    return encoded.translate(_SEPARATED)


def terms(text: str) -> Iterator[str]:
    """Return the terms of a text in order, repetitions included."""
    return chain.from_iterable(map(_memo.__getitem__, encoded_tokens(text)))


def tokens(text: str) -> list[str]:
    """Return the identifiers and words of a text as written."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=50_000)
def last_name(written: str) -> str:
    """Return the name that a written reference ends in: `django.db.models` → `models`, `./router.js` →
    `router`."""
    if written.endswith(_FILE_SUFFIXES):
        written = written.rpartition(".")[0]
    names: list[str] = _NAMES.findall(written)
    # A word of `$` signs alone is a name only where there is no other.
    if names and not names[-1].strip("$"):
        return next((name for name in reversed(names) if name.strip("$")), names[0])
    return names[-1] if names else written
