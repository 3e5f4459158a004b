"""Which repository is the query about: one that it names, one in its language, one full of its words, one
with several files that explain what is asked?

The signals are the same for all files of a repository, so an index of one repository has none of them. 641
questions of 32 repositories, asked of all of them at once, find a file of the right one first for 85 %
instead of 78 %. `benchmarks/quality/joint.txt` has the figures of weights that were chosen on other
repositories.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import scaled
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.retrieval.signals.words import unit_worth
from satchel.terms import compound, tokens, words

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions

_OFTEN = 0.03  # of the units of a repository: a word in so many of them counts half
_EXPLAIN = 3  # files of a repository that together explain how something works
_LONGEST_NAME = 4  # words of a query that may be one name
_TITLES = ("README.md", "readme.md", "README.rst", "README")
# Words that mean a language and nothing else. `go`, `c` and `basic` are words of any question.
_LANGUAGE_WORDS = {
    "bash": "bash",
    "c#": "csharp",
    "c++": "cpp",
    "csharp": "csharp",
    "elixir": "elixir",
    "golang": "go",
    "haskell": "haskell",
    "java": "java",
    "javascript": "javascript",
    "kotlin": "kotlin",
    "lua": "lua",
    "php": "php",
    "python": "python",
    "ruby": "ruby",
    "rust": "rust",
    "scala": "scala",
    "swift": "swift",
    "typescript": "typescript",
    "zig": "zig",
}
_WORD = re.compile(r"[a-z][a-z0-9]*(?:\+\+|#)?")


class RepositoryFacts(msgspec.Struct, frozen=True):
    """What is known of the repositories of a corpus, by their number: of each file its repository, of each
    repository its units, its names, and which share of its files is in each language."""

    owners: Positions
    units: Floats
    names: dict[str, list[int]]
    languages: dict[str, Floats]


def compute(context: Context) -> dict[str, Floats]:
    """Return for each candidate how much the query speaks for its repository."""
    if len(context.corpus.repositories) < 2:
        return {}
    facts: RepositoryFacts = context.corpus.memo(_facts)
    owners = facts.owners[context.evidence.files]
    return {
        "repository_named": _named(context, facts)[owners],
        "repository_language": _in_language(context, facts)[owners],
        "repository_words": _full_of_words(context, facts)[owners],
        "repository_explains": _explains(context, owners, len(facts.units))[owners],
    }


def _facts(corpus: Corpus) -> RepositoryFacts:
    number = {name: at for at, name in enumerate(corpus.repositories)}
    owners = corpus.repository_of
    files = np.bincount(owners, minlength=len(number)).astype(np.float64)
    units = np.bincount(owners, corpus.unit_counts, len(number))
    names: dict[str, list[int]] = {}
    for name, at in number.items():
        for written in dict.fromkeys(filter(None, map(_joined, (name, *_titles(corpus, name))))):
            names.setdefault(written, []).append(at)
    languages = {language: np.zeros(len(number)) for language in sorted(set(_LANGUAGE_WORDS.values()))}
    held = Counter(zip(owners.tolist(), corpus.languages, strict=True))
    for (owner, language), count in held.items():
        if language in languages:
            languages[language][owner] = count / files[owner]
    return RepositoryFacts(owners, np.maximum(units, 1.0), names, languages)


def _titles(corpus: Corpus, name: str) -> list[str]:
    """Return the title of the file that introduces a repository, and its first word: `Laravel Framework`,
    `Laravel`."""
    paths = (f"{name}/{file}" for file in _TITLES)
    path = next((path for path in paths if path in corpus.position_of), None)
    chunks = corpus.chunks(path, 1, 40) if path is not None else []
    title = next((chunk.title_path[0] for chunk in chunks if chunk.level == 1 and chunk.title_path), "")
    return [title, (words(title) or [""])[0]]


def _joined(name: str) -> str:
    return "".join(word for token in tokens(name) for word in words(token))


def _named(context: Context, facts: RepositoryFacts) -> Floats:
    """Return 1 for a repository that the query names, less if the name is a word of other repositories
    too."""
    asked = context.query_terms.title_words
    spans = {
        "".join(asked[start:end])
        for start in range(len(asked))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(asked)) + 1)
    }
    named = np.zeros(len(facts.units))
    for name in sorted(spans & facts.names.keys()):
        positions, _ = context.corpus.postings(compound(name))
        holders = set(facts.owners[context.corpus.file_of[positions]].tolist())
        for at in facts.names[name]:
            others = len(holders - {at}) / max(1, len(facts.units) - 1)
            named[at] = max(named[at], 1.0 - others)
    return named


def _in_language(context: Context, facts: RepositoryFacts) -> Floats:
    """Return which share of the files of each repository is in a language that the query names."""
    asked = set(_WORD.findall(context.query.title.lower()))
    share = np.zeros(len(facts.units))
    for language in sorted({_LANGUAGE_WORDS[word] for word in asked & _LANGUAGE_WORDS.keys()}):
        share += facts.languages[language]
    return share


def _full_of_words(context: Context, facts: RepositoryFacts) -> Floats:
    """Return how common the words of the query are in each repository, rare words first of all."""
    postings = context.evidence.postings
    weighting = Weighting.TITLE if context.query_terms.all_title else Weighting.BLEND
    total = 0.0
    common = np.zeros(len(facts.units))
    for weight, rarity, units in zip(
        context.query_terms.weights[weighting],
        postings.file_rarity,
        postings.units_by_repository(),
        strict=True,
    ):
        share = units / facts.units
        common += weight * rarity * (share / (share + _OFTEN))
        total += weight * rarity
    return common / total if total else common


def _explains(context: Context, owners: Positions, count: int) -> Floats:
    """Return for a query that asks how something works the words in the best units of the best files of each
    repository, against those of the first repository. A mechanism is spread over files; where only one file
    fits, its words are there by chance. For other queries, which one file answers, return zeros."""
    total = np.zeros(count)
    if context.asks_how:
        evidence = context.evidence
        best = evidence.best_of_file(evidence.by_unit(unit_worth(context), Weighting.BLEND))
        for at in set(owners.tolist()):
            total[at] = np.sort(best[owners == at])[::-1][:_EXPLAIN].sum()
    return scaled(total)


SIGNAL = SignalGroup(
    "repositories",
    ("repository_named", "repository_language", "repository_words", "repository_explains"),
    compute,
)
