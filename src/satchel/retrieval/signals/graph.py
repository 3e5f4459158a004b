"""Do other files that fit the question lead to this one, or does this one lead to them?

A file leads to another when it uses a telling name that only the other (and perhaps one more) defines, or
imports it. A file's fit flows along its edges, shared among them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.evidence import scaled
from satchel.retrieval.signals.paths import path_words
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.retrieval.signals.words import unit_worth
from satchel.retrieval.views import View

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

_SOURCES = 40  # files whose edges are followed; the fit of later ones is too small to matter
_AMBIGUOUS = 2  # files that define a name; above this a use does not say which is meant
_PARTS = re.compile(r"[./\\:]+")


def compute(context: Context) -> dict[str, Floats]:
    evidence = context.evidence
    fit = scaled(evidence.best_of_file(evidence.by_unit(unit_worth(context), View.TITLE))) ** 2
    test = np.array(["test" in record.tags for record in context.records], bool)
    fit = np.where(test, 0.0, fit)
    order = np.argsort(-np.round(fit, 9), kind="stable")[:_SOURCES].tolist()
    sources = [at for at in order if fit[at] > 0]
    edges = _edges(context, sources)
    inward, outward = np.zeros(context.count), np.zeros(context.count)
    indegree: dict[int, int] = defaultdict(int)
    for targets in edges.values():
        for target in targets:
            indegree[target] += 1
    for source in sources:
        targets = edges.get(source, {})
        total = sum(targets.values())
        for target, weight in targets.items():
            inward[target] += fit[source] * weight / total
            outward[source] += fit[target] / indegree[target]
    return {"referred_to": scaled(inward), "refers_to": scaled(outward)}


def _edges(context: Context, sources: list[int]) -> dict[int, dict[int, float]]:
    known, local = context.known, context.local.tolist()
    defining = context.corpus.defining
    by_stem: dict[str, list[int]] = defaultdict(list)
    for at, record in enumerate(context.records):
        by_stem[_last_word(record.path)].append(at)
    meant: dict[str, list[int]] = {}  # files share most of their imports
    edges: dict[int, dict[int, float]] = {}
    for source in sources:
        outline = known[source].outline
        targets: dict[int, float] = {}
        for name in outline.uses:
            owners = [at for position in defining.get(name, ()) if (at := local[position]) >= 0]
            if 0 < len(owners) <= _AMBIGUOUS:
                for owner in owners:
                    if owner != source:
                        targets[owner] = targets.get(owner, 0.0) + 1.0
        for written in outline.imports:
            if written not in meant:
                meant[written] = _imported(context, written, by_stem)
            for target in meant[written]:
                if target != source:
                    targets[target] = targets.get(target, 0.0) + 1.0
        if targets:
            edges[source] = targets
    return edges


@lru_cache(maxsize=100_000)
def _last_word(path: str) -> str:
    return "".join(path_words(path).stem)


@lru_cache(maxsize=100_000)
def _folder_word(path: str) -> str:
    return "".join(path_words(path).folder)


@lru_cache(maxsize=50_000)
def _import_words(written: str) -> tuple[str, ...]:
    """The parts of an import as they are compared, outermost first."""
    parts = [part.lower() for part in _PARTS.split(written) if part not in ("", "crate", "self", "super")]
    return tuple(part.replace("_", "").replace("-", "") for part in parts)


def _imported(context: Context, written: str, by_stem: dict[str, list[int]]) -> list[int]:
    """The candidates that an import, as written, can mean; the last part may be a name inside the file."""
    parts = _import_words(written)
    for end in (len(parts), len(parts) - 1):
        if end < 1:
            break
        found = by_stem.get(parts[end - 1], [])
        if end > 1 and found:
            nearer = [at for at in found if _folder_word(context.records[at].path) == parts[end - 2]]
            found = nearer or (found if len(found) == 1 else [])
        if 0 < len(found) <= _AMBIGUOUS:
            return found
    return []


SIGNAL = SignalGroup("graph", ("referred_to", "refers_to"), compute)
