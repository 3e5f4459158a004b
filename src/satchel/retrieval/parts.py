"""Which lines of a long text hold most of the query?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

from satchel.retrieval.evidence import Evidence
from satchel.retrieval.query_terms import Weighting
from satchel.terms import terms


@lru_cache(maxsize=10_000)  # the lines of some hundred files that are asked for again and again
def held_terms(text: str) -> frozenset[str]:
    """The terms that stand in a text."""
    return frozenset(terms(text))


def rarity_of(evidence: Evidence) -> Mapping[str, float]:
    """What each term of the query is worth where it is found."""
    weights = zip(
        evidence.query_terms.terms,
        evidence.postings.unit_rarity,
        evidence.query_terms.weights[Weighting.BLEND],
        strict=True,
    )
    return {term: rarity * weight for term, rarity, weight in weights if weight}


def fitting(first: int, last: int, lines: Sequence[str], chars: int) -> int:
    """The last line that can be shown when all is shown from the first on; at least one is."""
    size = 0
    for number in range(first, last + 1):
        size += len(lines[number - 1])
        if size > chars and number > first:
            return number - 1
    return last


def best_part(
    rarity: Mapping[str, float], first: int, last: int, lines: Sequence[str], chars: int
) -> tuple[int, int]:
    """The lines within a span, up to so many characters, that hold most of the query; earliest first."""
    asked = frozenset(rarity)
    telling = [
        number for number in range(first, last + 1) if not asked.isdisjoint(held_terms(lines[number - 1]))
    ]
    held = [asked & held_terms(lines[number - 1]) for number in telling]
    best, most = first, -1.0
    for at, start in enumerate(telling):
        until = bisect_right(telling, fitting(start, last, lines, chars))
        worth = round(sum(rarity[term] for term in sorted(frozenset().union(*held[at:until]))), 6)
        if worth > most:
            best, most = start, worth
    return best, fitting(best, last, lines, chars)
