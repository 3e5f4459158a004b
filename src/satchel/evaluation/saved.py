"""Saved evaluations: a JSON file with every question, its results and its scores, and the paired comparison
of two such files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from satchel.errors import FileNotFound, InvalidRequest
from satchel.evaluation.metrics import METRICS
from satchel.evaluation.run import DEPTH, Run
from satchel.evaluation.statistics import Difference, Mean, compare_scores, means
from satchel.file_writing import replace_file

VERSION = 1


class SavedGold(msgspec.Struct, frozen=True, omit_defaults=True):
    """A gold entry of a saved question."""

    path: str
    start_line: int = 0
    end_line: int = 0
    match: str = ""
    tier: str = ""


class SavedResult(msgspec.Struct, frozen=True):
    """The lines of one result of a saved question."""

    path: str
    start_line: int
    end_line: int


class SavedQuery(msgspec.Struct, frozen=True):
    """One question with its results. The fields are named as in a dataset row, for other scorers. A replayed
    fix has `tokens`: what each policy read until all was seen, null if it never was."""

    set: str
    repo: str
    query_id: str
    category: str
    language: str
    query: str
    gold: tuple[SavedGold, ...]
    results: tuple[SavedResult, ...]
    scores: dict[str, float]
    tokens: dict[str, int | None] | msgspec.UnsetType = msgspec.UNSET

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what names the question in all datasets together."""
        return (self.set, self.repo, self.query_id)


class SavedLeftOut(msgspec.Struct, frozen=True):
    """A row or commit that was not asked, and why."""

    id: str
    reason: str
    detail: str


class Saved(msgspec.Struct, frozen=True):
    """A whole evaluation. It holds no time: the same answers give the same bytes."""

    version: int
    source: str
    profile: str
    tokenizer: str
    depth: int
    queries: list[SavedQuery]
    left_out: list[SavedLeftOut]


class EvaluationComparison(NamedTuple):
    """The result of comparing two evaluations: `shared` questions were compared, the others were asked on one
    side only or have other gold."""

    shared: int
    only_ours: int
    only_theirs: int
    differences: dict[str, Difference]


def keep(run: Run, source: str, tokenizer: str) -> Saved:
    """Return a run as it is saved."""
    queries = [
        SavedQuery(
            set=answer.case.set,
            repo=answer.case.repo,
            query_id=answer.case.id,
            category=answer.case.category,
            language=answer.case.language,
            query=answer.case.query,
            gold=tuple(SavedGold(*gold) for gold in answer.case.gold),
            results=tuple(SavedResult(item.path, item.start_line, item.end_line) for item in answer.results),
            scores=answer.scores,
            tokens=msgspec.UNSET if answer.tokens is None else answer.tokens,
        )
        for answer in run.answers
    ]
    left_out = [SavedLeftOut(item.id, item.reason.value, item.detail) for item in run.left_out]
    return Saved(VERSION, source, run.profile, tokenizer, DEPTH, queries, left_out)


def means_of(saved: Saved) -> dict[str, Mean]:
    """Return the means of a saved evaluation."""
    scores = [query.scores for query in saved.queries]
    return means({name: [item[name] for item in scores if name in item] for name in METRICS})


def load(path: Path) -> Saved:
    """Read a saved evaluation; a file that is none is a typed error."""
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=Saved)
    except OSError as error:
        raise FileNotFound(
            f"{str(path)!r} cannot be read: {error.strerror}",
            hint="write it first: satchel eval … --save FILE",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(
            f"{path.name} is no saved evaluation: {error}", hint="write it with satchel eval … --save FILE"
        ) from error
    if saved.version != VERSION:
        raise InvalidRequest(
            f"{path.name} has version {saved.version}, this Satchel reads {VERSION}", hint="save it anew"
        )
    return saved


def compare(ours: Saved, theirs: Saved) -> EvaluationComparison:
    """Compare two evaluations over the questions that both were asked with the same gold."""
    if (ours.tokenizer, ours.depth) != (theirs.tokenizer, theirs.depth):
        raise InvalidRequest(
            f"tokens were counted by {theirs.tokenizer} over {theirs.depth} results there,"
            f" by {ours.tokenizer} over {ours.depth} here",
            hint="save both with the same --tokenizer",
        )
    known = {query.key: query for query in theirs.queries}
    pairs = [
        (query.scores, other.scores)
        for query in ours.queries
        if (other := known.get(query.key)) is not None
        and (other.gold, other.query) == (query.gold, query.query)
    ]
    if not pairs:
        raise InvalidRequest(
            "no question is in both evaluations", hint="compare runs over the same questions"
        )
    rest = len(ours.queries) - len(pairs), len(theirs.queries) - len(pairs)
    return EvaluationComparison(len(pairs), *rest, _differences(pairs))


def _differences(
    pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]],
) -> dict[str, Difference]:
    """Return the paired comparison of each metric that both sides have."""
    found = {}
    for name in METRICS:
        both = [(ours[name], theirs[name]) for ours, theirs in pairs if name in ours and name in theirs]
        if both:
            found[name] = compare_scores([one for one, _ in both], [other for _, other in both])
    return found


def write_text(path: Path, text: str) -> None:
    """Write a text to a file in one step."""
    replace_file(path, text.encode())
