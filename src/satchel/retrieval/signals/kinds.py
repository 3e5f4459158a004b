"""What kind of file is it? Tests, documents and settings rarely answer a query that does not ask for them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from satchel.retrieval.intent import Intent
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
_SIGNALS = ("test", "aside", "contract", "document", "docs", "data", "build", "depth", "size")


def _of_file(record: FileRecord) -> tuple[float, ...]:
    """Return the numbers of `_SIGNALS` for a file."""
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
    )


def compute(context: Context) -> dict[str, Floats]:
    """Return what kind of file each candidate is; a kind that the query asks for counts less against it."""
    table = context.corpus.numbers(context.evidence.files, len(_SIGNALS), _of_file)
    # A report speaks of tests in passing: it asks for the code.
    tests = 0.0 if context.query.prose or context.query.code else context.intents.get(Intent.TESTS, 0.0)
    documents = context.intents.get(Intent.DOCUMENTS, 0.0)
    asked = {
        "test": tests,
        "aside": tests,
        "document": max(documents, _ANSWERED if context.query_terms.all_title else 0.0),
        "docs": documents,
        "data": context.intents.get(Intent.CONFIG, 0.0),
        "build": context.intents.get(Intent.CONFIG, 0.0),
    }
    found = {name: table[:, at] * (1.0 - asked.get(name, 0.0)) for at, name in enumerate(_SIGNALS)}
    return {**found, "depth_how": context.asks_how * found["depth"]}


SIGNAL = SignalGroup("kinds", (*_SIGNALS, "depth_how"), compute)
