"""What kind of file is it? Tests, documents and settings answer a query that asks for them, and rarely any
other."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.intent import WEAK, Intent
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.storage.records import FileRecord

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_ASIDE = re.compile(
    r"(?:^|/)_?(?:examples?|docs?_src|samples?|demos?|compat|_compat|legacy|vendor|third[-_]party|deprecated"
    r"|generated|dist|javadocs?|stubs?|bench|benches|benchmarks?|mocks?|playground|sandbox)(?:/|$)"
    r"|\.(?:d\.[cm]?ts|pyi)$",  # declarations of code that is elsewhere
    re.IGNORECASE,
)
_CONTRACT = re.compile(
    r"(?:^|/)(?:contracts?|interfaces?|types?|abstract[^/]*|templates?|internal|_internal|impl)(?:/|\.)",
    re.IGNORECASE,
)
_DATA = frozenset({"json", "yaml", "toml", "config", "html", "css", "unknown", "dockerfile", "makefile"})
PROSE = frozenset({"markdown", "rst", "text"})  # the languages of documents; a test compares them
_ANSWERED = 0.5  # a short query may be answered by a document, a report is about code
# What a kind counts in favour of its files where a query surely asks for it; elsewhere it counts 1 against
# them. What that gave for questions about tests, documents and settings stands in benchmarks/README.md; 432
# reports about code are ranked as before.
_IN_FAVOUR = 0.2
# Texts of the program in other languages, and what tests have written: each repeats the words of the code.
_REPEATED = re.compile(
    r"(?:^|/)(?:__snapshots__|locales|translations|lc_messages|locale/[a-z]{2}(?:[-_]\w+)?)/|\.(?:snap|po|xlf)$",
    re.IGNORECASE,
)
_ASKS_REPEATED = re.compile(r"(?i)snapshot|translat|locali[sz]|\blocales?\b|\b(?:i18n|l10n)\b")
_SIGNALS = ("test", "aside", "contract", "document", "docs", "data", "build", "depth", "size")


def _of_file(record: FileRecord) -> tuple[float, ...]:
    """Return the numbers of `_SIGNALS` for a file, then whether it repeats words of the code."""
    document = record.language in PROSE
    return (
        float("test" in record.tags),
        float(bool(_ASIDE.search(record.path)) or "example" in record.tags),
        float(bool(_CONTRACT.search(record.path))),
        float(document),
        float("docs" in record.tags and not document),  # code and data that documents are made with
        float(record.language in _DATA and not document),
        float(bool({"build", "ci", "dependency"}.intersection(record.tags))),
        record.path.count("/") / 5,
        round(math.log(1 + record.line_count), 6) / 7,
        float(bool(_REPEATED.search(record.path))),
    )


def compute(context: Context) -> dict[str, Floats]:
    """Return what kind of file each candidate is, less where the query asks for that kind."""
    table = context.corpus.numbers(context.evidence.files, len(_SIGNALS) + 1, _of_file)
    if not _ASKS_REPEATED.search(context.query.title):
        aside = _SIGNALS.index("aside")
        table[:, aside] = np.maximum(table[:, aside], table[:, -1])
    tests = _asks_for_tests(context)
    documents = context.intents.get(Intent.DOCUMENTS, 0.0)
    asked = {
        "test": tests,
        "aside": tests,
        "document": max(documents, _ANSWERED if context.query_terms.all_title else 0.0),
        "docs": documents,
        "data": context.intents.get(Intent.CONFIG, 0.0),
        "build": context.intents.get(Intent.CONFIG, 0.0),
    }
    found = {name: table[:, at] * _against(name, asked.get(name, 0.0)) for at, name in enumerate(_SIGNALS)}
    return {**found, "depth_how": context.asks_how * found["depth"]}


def _against(name: str, asked: float) -> float:
    """Return what a kind counts against its files. Who asks for tests does not ask for examples."""
    return -_IN_FAVOUR if asked == 1.0 and name != "aside" else 1.0 - asked


def _asks_for_tests(context: Context) -> float:
    """Return how strongly a query asks for tests. A report whose title does not speak of them asks for the
    code. To a project about tests the word is as good as its own name."""
    strength = context.intents.get(Intent.TESTS, 0.0)
    if not (context.query.prose or context.query.code):
        return strength
    return strength if strength >= WEAK and not context.corpus.memo(_is_about_tests) else 0.0


def _is_about_tests(corpus: Corpus) -> bool:
    """Whether most of the files that are no tests speak of tests: three in four of pytest's do, and at most
    a third of those of 29 other repositories."""
    is_other = corpus.tagged({"test": 1.0}) == 0
    return 2 * int(is_other[corpus.files_holding("test")].sum()) > int(is_other.sum())


SIGNAL = SignalGroup("kinds", (*_SIGNALS, "depth_how"), compute)
