"""Do other files that fit the query refer to this one, or does this one refer to them?

A file refers to another when it imports it, or uses a name that only the other (and perhaps one more)
defines. The fit of a file flows along its references, shared among them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.evidence import scaled
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.paths import path_words
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.retrieval.signals.words import unit_worth

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats
    from satchel.retrieval.file_cache import LoadedOutline

_SOURCES = 40  # files whose references are followed; the fit of later files is too small to matter
_AMBIGUOUS = 2  # files that define a name; with more a use does not say which is meant
_PARTS = re.compile(r"[./\\:]+")


def compute(context: Context) -> dict[str, Floats]:
    """Return how much candidates that fit the query refer to each candidate, and it to them."""
    evidence = context.evidence
    fit = scaled(evidence.best_of_file(evidence.by_unit(unit_worth(context), Weighting.TITLE))) ** 2
    fit[context.tests] = 0.0
    order = np.argsort(-np.round(fit, 9), kind="stable")[:_SOURCES].tolist()
    sources = [at for at in order if fit[at] > 0]
    edges = _edges(context, sources)
    # Single numbers are read and written faster in a list.
    fits = fit.tolist()
    inward, outward = [0.0] * context.count, [0.0] * context.count
    indegree = Counter(chain.from_iterable(edges.values()))
    for source, targets in edges.items():
        total = sum(targets.values())
        for target, weight in targets.items():
            inward[target] += fits[source] * weight / total
            outward[source] += fits[target] / indegree[target]
    return {"referred_to": scaled(np.array(inward)), "refers_to": scaled(np.array(outward))}


def _edges(context: Context, sources: list[int]) -> dict[int, dict[int, float]]:
    """Return for each source the candidates that it refers to, and how often."""
    outlines = context.outlines
    owners_of = _owners(outlines, sources)
    by_stem: dict[str, list[int]] = defaultdict(list)
    for at, record in enumerate(context.records):
        by_stem[path_words(record.path).joined].append(at)
    targets_of = _ImportTargets(context, by_stem)
    edges: dict[int, dict[int, float]] = {}
    for source in sources:
        outline = outlines[source].outline
        targets: dict[int, float] = {}
        for owners in filter(None, map(owners_of.get, outline.uses)):  # most names are defined elsewhere
            if len(owners) <= _AMBIGUOUS:
                for owner in owners:
                    if owner != source:
                        targets[owner] = targets.get(owner, 0.0) + 1.0
        for imported in filter(None, map(targets_of.__getitem__, outline.imports)):
            for target in imported:
                if target != source:
                    targets[target] = targets.get(target, 0.0) + 1.0
        if targets:
            edges[source] = targets
    return edges


def _owners(outlines: Sequence[LoadedOutline], sources: Sequence[int]) -> dict[str, list[int]]:
    """Return the candidates that define each name that a source uses."""
    used = set(chain.from_iterable(outlines[source].outline.uses for source in sources))
    found: dict[str, list[int]] = {}
    for at, loaded in enumerate(outlines):
        for name in used.intersection((*loaded.outline.types, *loaded.outline.others)):
            found.setdefault(name, []).append(at)
    return found


@lru_cache(maxsize=50_000)
def _import_words(written: str) -> tuple[str, ...]:
    """Return the parts of an import as they are compared, outermost first."""
    parts = [part.lower() for part in _PARTS.split(written) if part not in ("", "crate", "self", "super")]
    return tuple(part.replace("_", "").replace("-", "") for part in parts)


class _ImportTargets(dict[str, list[int]]):
    """Import as written → the candidates that it can mean. Files share most of their imports."""

    def __init__(self, context: Context, by_stem: dict[str, list[int]]) -> None:
        self._context = context
        self._by_stem = by_stem

    def __missing__(self, written: str) -> list[int]:
        parts = _import_words(written)
        # Most imports are of files that are no candidates.
        here = not self._by_stem.keys().isdisjoint(parts[-2:])
        found = self[written] = _imported(self._context, parts, self._by_stem) if here else []
        return found


def _imported(context: Context, parts: tuple[str, ...], by_stem: dict[str, list[int]]) -> list[int]:
    """Return the candidates that an import can mean; its last part may be a name inside the file."""
    for end in (len(parts), len(parts) - 1):
        if end < 1:
            break
        found = by_stem.get(parts[end - 1], [])
        if end > 1 and found:
            nearer = [
                at for at in found if path_words(context.records[at].path).folder_joined == parts[end - 2]
            ]
            found = nearer or (found if len(found) == 1 else [])
        if 0 < len(found) <= _AMBIGUOUS:
            return found
    return []


SIGNAL = SignalGroup("graph", ("referred_to", "refers_to"), compute)
