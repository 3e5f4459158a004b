"""What is measured of one repository? Every score, with one index and in one process."""

from __future__ import annotations

from dataclasses import dataclass

from graph.answers import Satchel
from graph.edge_scores import Findings, score_bases, score_imports
from graph.graph_scores import MapScore, RelatedScore, UseGraph, score_map, score_related
from graph.repositories import Lab, Repository, commit_of
from graph.truth import Truth
from graph.use_scores import Case, cases_of


@dataclass(frozen=True, slots=True)
class Measured:
    """All scores of a repository; None where the truth of its language has no such edges."""

    repository: Repository
    commit: str
    not_indexed: int  # files that the oracle read and Satchel leaves out; nothing is asked about them
    cases: list[Case]
    imports: Findings | None = None
    bases: Findings | None = None
    related: RelatedScore | None = None
    map: MapScore | None = None


def measure(
    lab: Lab, repository: Repository, truth: Truth, sample: str, *, only_uses: bool = False
) -> Measured:
    """Ask Satchel everything that the truth file of a repository can judge."""
    clone = lab.clone(repository)
    if commit_of(clone) != truth.commit:
        raise SystemExit(f"{clone} is not at {truth.commit}, which its truth file is about")
    with Satchel(clone, lab.index(repository)) as satchel:
        not_indexed = sum(path not in satchel.files for path in truth.files)
        truth = truth.within(satchel.files)
        cases = list(cases_of(satchel, truth, sample))
        if only_uses:
            return Measured(repository, truth.commit, not_indexed, cases)
        graph = UseGraph(truth)
        return Measured(
            repository,
            truth.commit,
            not_indexed,
            cases,
            imports=score_imports(satchel, truth) if truth.imports else None,
            bases=score_bases(satchel, truth) if truth.bases else None,
            related=score_related(satchel, graph, [case.definition for case in cases]),
            map=score_map(satchel, graph),
        )
