"""What kind of file is it? Tests, examples, documents and settings rarely are what a question is after,
unless it asks for them."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.intent import Signal as Intent
from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

_ASIDE = re.compile(
    r"(?:^|/)_?(?:examples?|docs?_src|samples?|demos?|compat|_compat|legacy|vendor|third[-_]party|deprecated"
    r"|generated|dist|javadocs?|stubs?|bench|benches|benchmarks?|mocks?|playground|sandbox)(?:/|$)|\.d\.ts$",
    re.IGNORECASE,
)
_CONTRACT = re.compile(
    r"(?:^|/)(?:contracts?|interfaces?|types?|abstract[^/]*|templates?|internal|_internal|impl)(?:/|\.)",
    re.IGNORECASE,
)
_DATA = frozenset({"json", "yaml", "toml", "config", "html", "css", "unknown", "dockerfile", "makefile"})
PROSE = frozenset({"markdown", "rst", "text"})  # the languages of documents (a test compares)
_ANSWERED = 0.5  # a question may be answered by a document, a report is about code
_SIGNALS = ("test", "aside", "contract", "document", "data", "build", "depth", "size")


@lru_cache(maxsize=100_000)
def _of_path(path: str, language: str, tags: tuple[str, ...], line_count: int) -> tuple[float, ...]:
    document = language in PROSE
    return (
        float("test" in tags),
        float(bool(_ASIDE.search(path)) or "example" in tags),
        float(bool(_CONTRACT.search(path))),
        float(document),
        float(language in _DATA and not document),
        float(bool({"build", "ci", "dependency"}.intersection(tags))),
        path.count("/") / 5,
        round(math.log(1 + line_count), 6) / 7,
    )


def compute(context: Context) -> dict[str, Floats]:
    rows = [
        _of_path(record.path, record.language, record.tags, record.line_count) for record in context.records
    ]
    table = np.array(rows, np.float64).reshape(len(rows), len(_SIGNALS))
    # a report speaks of tests in passing: what it wants mended is the code
    tests = 0.0 if context.question.prose or context.question.code else context.intents.get(Intent.TESTS, 0.0)
    asked = {
        "test": tests,
        "aside": tests,
        "document": max(
            context.intents.get(Intent.DOCUMENTS, 0.0), _ANSWERED if context.views.all_title else 0.0
        ),
        "data": context.intents.get(Intent.CONFIG, 0.0),
        "build": context.intents.get(Intent.CONFIG, 0.0),
    }
    return {name: table[:, at] * (1.0 - asked.get(name, 0.0)) for at, name in enumerate(_SIGNALS)}


SIGNAL = SignalGroup("kinds", _SIGNALS, compute)
