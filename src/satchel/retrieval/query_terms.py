"""The terms of a query and what they weigh: in all of its text, its title, a blend of its parts, its names.

A short query is all title, and words that come early in it count more. Of an issue report the title counts
twice, the prose once and the code half; repetition counts by its square root. Other spellings of a word, such
as programmers' short forms, count less than the word itself.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache

import msgspec

from satchel.retrieval.query import Query
from satchel.terms import stem, terms, tokens, words

_MOST_CHARS = 12_000  # of a text; later text rarely names something else
_MOST_TERMS = 400  # of the blend, by first appearance
_LATE = 0.4  # how much less the last word of a short query counts than the first
_TITLE, _PROSE, _CODE = 2.0, 1.0, 0.5
# Weights are rounded to this grid: mathematical libraries differ in the last bit of a square root.
_GRID = 4096
_STOP_WORDS_LISTED = """
    a all an and any are as at be been being but by can could did do does doing done each for from had
    has have how i if in into is it its me my not of on or our should so such than that the their them
    then there these they this those to us use used uses using via was we were what when where which who
    whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS_LISTED.split())

# Stop words after "how": "how does it work" does not ask for workers.
_HOW_IT_WORKS = frozenset({"work", "works"})
_SHORT_FORM = 0.5  # what a short form counts beside the word itself: `config` for `configuration`
_JOINED = 0.7  # what two words written together count: `websocket` for `WebSocket`
_LEAST_JOINED = 6  # letters of a word that may be two words
_FORMS = """
addr address | alloc allocation allocate allocator | app application | arg argument | async asynchronous
| attr attribute | auth authentication authorization | bg background | buf buffer | cb callback | cfg
config configuration configure | char character | cmd command | col column | cond condition | conf
configuration | conn connection | ctx context | ctrl control controller | cur current cursor | db
database | decl declaration | def definition default | del delete remove | dep dependency | desc
description descriptor | dest destination | dev development device | dict dictionary | diff difference |
dir directory folder | dist distribution distance | doc document documentation | elem element | env
environment | err error | eval evaluate evaluation | exc exception | exec execute execution | expr
expression | ext extension | fmt format | fn func function | freq frequency | gen generate generator |
hdr header | id identifier | idx index | impl implementation | info information | init initialize
initialization initial | iter iterator iterate | lang language | len length | lib library | loc location
| log logger logging | max maximum | mem memory | meta metadata | min minimum | mgr manager | mod module
| msg message | mut mutable | nav navigation | num number | obj object | op operation operator | opt
option optional | org organization | param parameter | parse parser | perf performance | perm permission
| pkg package | pos position | pref preference | prev previous | proc process procedure | prop property
| proto protocol prototype | ptr pointer | pub public publish | qry query | rand random | rec record
recursive | ref reference | reg register registry | rel relation relative | repo repository | req
request require | res resp response | ret return | sched schedule scheduler | sec second security | seq
sequence | sess session | sig signature signal | spec specification | src source | stat statistics
status | std standard | stmt statement | str string | struct structure | sub subscribe subscription |
sync synchronize synchronous | sys system | tbl table | temp tmp temporary | term terminal | txt text |
util utility | val value validate validation | var variable | ver version | vec vector | win window | ws
websocket | asm assembly | cpp cxx | cs csharp | js javascript | kt kotlin | md markdown | pl perl | py
python | rb ruby | rs rust | sh shell bash | tex latex | ts typescript | yml yaml
"""
# Names that are written with signs, as files and identifiers spell them: `C++` is no `C`.
_SIGNED = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", ".net": "dotnet", "objective-c": "objectivec"}
_SIGNED_NAMES = re.compile(r"(?<![\w#+./-])(?:c\+\+|[cf]#|\.net|objective-c)(?![\w#+])", re.IGNORECASE)


class Weighting(StrEnum):
    """A way to weigh the terms of a query: by all of its text, its title, a blend of its parts, its names."""

    FULL = "full"
    TITLE = "title"
    BLEND = "blend"
    NAMES = "names"


class QueryTerms(msgspec.Struct, frozen=True):
    """The distinct terms of a query, and what each of them weighs in each weighting."""

    terms: tuple[str, ...]
    weights: Mapping[Weighting, Sequence[float]]
    all_title: bool  # a short query: all weightings but that of names are alike
    title_words: tuple[str, ...]  # lower-case and unstemmed, in order, without stop words
    full_words: tuple[str, ...]


def weigh_terms(query: Query) -> QueryTerms:
    """Return the terms of a query with their weights."""
    whole = "\n".join((query.title, query.prose, query.code))[:_MOST_CHARS]
    title = _decayed(query.title) if not (query.prose or query.code) else _counted(query.title)
    full = title if not (query.prose or query.code) else _counted(whole)
    blend: dict[str, float] = {}
    for part, weight in ((query.title, _TITLE), (query.prose, _PROSE), (query.code, _CODE)):
        for term, count in _counted(part[:_MOST_CHARS]).items():
            blend[term] = blend.get(term, 0.0) + weight * count
    blend = {term: _grid(math.sqrt(weight)) for term, weight in list(blend.items())[:_MOST_TERMS]}
    if title is full:
        blend = {term: _grid(weight * math.sqrt(_TITLE)) for term, weight in title.items()}
    named = Counter(terms(" ".join((*query.title_names, *query.prose_names))))
    names = {term: _grid(math.sqrt(count)) for term, count in named.items()}
    parts = {
        Weighting.TITLE: _with_spellings(title),
        Weighting.BLEND: _with_spellings(blend),
        Weighting.FULL: _with_spellings(full),
        Weighting.NAMES: names,
    }
    distinct = tuple(dict.fromkeys(term for part in parts.values() for term in part))
    return QueryTerms(
        terms=distinct,
        weights={weighting: [part.get(term, 0.0) for term in distinct] for weighting, part in parts.items()},
        all_title=title is full,
        title_words=tuple(_words(query.title)),
        full_words=tuple(_words(whole)),
    )


def _with_spellings(weights: dict[str, float]) -> dict[str, float]:
    """Return weights with the other spellings of each term added. Terms keep their own weights."""
    found = dict(weights)
    for term, weight in weights.items():
        for other, share in other_spellings(term):
            if other not in weights:
                found[other] = max(found.get(other, 0.0), _grid(weight * share))
    return found


def _grid(value: float) -> float:
    return round(value * _GRID) / _GRID


def _telling(text: str) -> Iterator[str]:
    """Yield the words of a text as written, without stop words. `IN` and `FOR` are names."""
    unsaid = STOP_WORDS | _HOW_IT_WORKS if text.lstrip()[:4].lower() == "how " else STOP_WORDS
    for token in tokens(_SIGNED_NAMES.sub(lambda match: _SIGNED[match[0].lower()], text)):
        lower = token.lower()
        if lower not in unsaid or token not in (lower, lower.capitalize()):
            yield token


def _counted(text: str) -> dict[str, float]:
    """Return how often each term occurs in a text."""
    return {term: float(count) for term, count in Counter(terms(" ".join(_telling(text)))).items()}


def _decayed(text: str) -> dict[str, float]:
    """Return how often each term occurs in a short query; later terms count less."""
    counts = _counted(text)
    last = max(1, len(counts))
    return {
        term: _grid(count * (1.0 - _LATE * position / last))
        for position, (term, count) in enumerate(counts.items())
    }


def _words(text: str) -> Iterable[str]:
    """Return the words of a text without stop words, lower-case and unstemmed."""
    return (word for token in _telling(text) for word in words(token))


@cache
def _short_forms() -> dict[str, tuple[str, ...]]:
    """Return for each stem of `_FORMS` the stems of the same groups."""
    found: dict[str, dict[str, None]] = {}
    for group in _FORMS.split("|"):
        forms = dict.fromkeys(map(stem, group.split()))
        for form in forms:
            found.setdefault(form, {}).update({other: None for other in forms if other != form})
    return {form: tuple(others) for form, others in found.items()}


def other_spellings(term: str) -> list[tuple[str, float]]:
    """Return the terms that may stand for a term of the query, and how much each counts."""
    if term[0] == "=":
        return [(stem(term[1:]), _JOINED)]
    found = [(other, _SHORT_FORM) for other in _short_forms().get(term, ())]
    if len(term) >= _LEAST_JOINED:
        found.append((f"={term}", _JOINED))
    return found
