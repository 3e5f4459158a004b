"""Run an evaluation: cases → searches → scores, over a dataset or over the commits of the repository."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from satchel.engine import Engine
from satchel.errors import IndexBusy, InvalidQuery, InvalidRequest
from satchel.evaluation import metrics
from satchel.evaluation.cases import Case, LeftOut, LeftOutReason, PathMapping, is_here, is_indexed, map_paths
from satchel.evaluation.history import ID_DIGITS, CommitQuestion, CommitQuestions
from satchel.evaluation.metrics import CountTokens, Result
from satchel.retrieval.filters import Filters
from satchel.storage.protocol import Store
from satchel.walking.git import resolve_ref
from satchel.walking.git_trees import GitTree
from satchel.walking.work_tree import in_repository

DEPTH = 100  # results asked for: enough to fill the largest token budget with small chunks
SHOWN = 10  # results of an ordinary search: what the clock is held to
_NAMED = 20  # ids listed in the details of an error
PAST_INDEX = "eval"  # beside the index: the trees of past commits, one after the other


class ScoredAnswer(NamedTuple):
    """A question, the results of its search, and their scores. Of a replayed fix, `results` are the items of
    a pack, and `tokens` says by policy how many were read until all was seen, None if it never was."""

    case: Case
    results: tuple[Result, ...]
    scores: dict[str, float]
    milliseconds: float
    tokens: dict[str, int | None] | None = None


@dataclass(slots=True)
class Run:
    """All answers of an evaluation. `left_out` lists the questions that were not asked, `unreachable` the
    gold files that no search can find because the index does not hold them."""

    answers: list[ScoredAnswer] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    unreachable: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: int = 0  # rows or commits looked at
    profile: str = ""  # how the hits were ranked


def run_dataset(engine: Engine, cases: Sequence[Case], count: CountTokens) -> Run:
    """Ask all cases of the segment's index as it is now."""
    engine.ensure_fresh()
    run = Run(seen=len(cases))
    where = map_paths(engine.root, cases)
    indexed = {record.path for record in engine.snapshot().files()}
    for number, case in enumerate(cases, 1):
        mapping = where[case.search_root]
        missing = {gold.path: None for gold in case.gold if not is_indexed(indexed, mapping, gold)}
        if any(gold.path not in missing or is_here(engine.root, mapping, gold.path) for gold in case.gold):
            run.unreachable += missing
            _ask(run, engine, case, mapping, count)
        else:
            run.left_out.append(LeftOut(case.id, LeftOutReason.GOLD_ELSEWHERE, case.gold[0].path))
        report_progress(engine, number, len(cases))
    if not run.answers:
        raise InvalidRequest(
            f"none of the {len(cases)} questions can be asked here: {counts_by_reason(run)}",
            hint="--segment is the repository that the questions are about, --repo picks its rows",
            details={"left_out": {item.id: item.reason.value for item in run.left_out[:_NAMED]}},
        )
    run.notes += _doubts(engine, run)
    return run


def run_history(engine: Engine, wanted: int, count: CountTokens) -> Run:
    """Ask the messages of the last commits, each of the index of the commit's parent.

    One index goes from parent to parent, oldest first, so that a file which two parents share is parsed once.
    The user's files and .git are only read."""
    history = CommitQuestions(engine.root, wanted)
    candidates = history.candidates()
    run = Run()
    newest_first: dict[str, int] = {}
    store = engine.store.beside(PAST_INDEX)
    while len(run.answers) < wanted and (batch := list(islice(candidates, wanted - len(run.answers)))):
        for candidate in batch:
            newest_first[candidate.commit.id[:ID_DIGITS]] = len(newest_first)
        for candidate in reversed(batch):
            _ask_past(run, engine, store, history, candidate, count)
            report_progress(engine, len(run.answers), wanted)
    report_progress(engine, wanted, wanted)
    run.answers.sort(key=lambda answer: newest_first[answer.case.id])
    run.left_out += history.left_out
    run.seen = history.seen
    _complain(run, history, wanted)
    return run


def with_profile(engine: Engine, profile: str) -> Engine:
    """Return an engine of the same segment and index that ranks by another profile."""
    options = replace(engine.options, profile=profile)
    return engine.for_caller(options=options, token=engine.token, progress=engine.progress)


def _ask_past(
    run: Run,
    engine: Engine,
    store: Store,
    history: CommitQuestions,
    candidate: CommitQuestion,
    count: CountTokens,
) -> None:
    """Ask one commit's message of the index of its parent, and add the answer or the reason why there is
    none."""
    tree = GitTree(engine.root, candidate.parent, engine.options.walk)
    progress = engine.progress if not store.exists() else None  # only the first takes long
    with Engine(engine.root, store, engine.options, tree, token=engine.token, progress=progress) as past:
        generation = past.refresh().generation
        case = history.case(candidate, past.snapshot())
        if isinstance(case, Case):
            _ask(run, past, case, PathMapping(), count)
            run.notes += [note for note in past.notes if note not in run.notes]
        else:
            history.leave_out(candidate.commit, case)
        if past.snapshot().generation != generation:
            raise IndexBusy(
                "another evaluation moved the index of past trees", hint="run one evaluation at a time"
            )


def _ask(run: Run, engine: Engine, case: Case, mapping: PathMapping, count: CountTokens) -> None:
    """Ask one question and add its scored answer."""
    filters = Filters(path_prefix=mapping.within)
    engine.corpus()  # loading the index is no part of a search
    _tell_profile(run, engine)
    try:
        start = time.perf_counter()
        engine.search(case.query, SHOWN, filters)
        elapsed = time.perf_counter() - start
        hits, _ = engine.search(case.query, DEPTH, filters)
    except InvalidQuery as error:
        run.left_out.append(LeftOut(case.id, LeftOutReason.INVALID_QUERY, error.message))
        return
    results = tuple(Result(mapping.prefix + hit.path, hit.start_line, hit.end_line, hit.text) for hit in hits)
    scores = metrics.scores(case.gold, results, count)
    run.answers.append(ScoredAnswer(case, results, scores, elapsed * 1000))


def _tell_profile(run: Run, engine: Engine) -> None:
    """Note which profile ranked the hits: an index without vectors is ranked without them, whatever was
    asked for."""
    run.profile = engine.profile
    note = f"ranked as {engine.profile}, not {engine.options.profile}: the index holds no vectors"
    if engine.profile != engine.options.profile and note not in run.notes:
        run.notes.append(note)


def _doubts(engine: Engine, run: Run) -> list[str]:
    """Return notes on what may be wrong with a dataset in this segment."""
    notes = []
    repos = {answer.case.repo for answer in run.answers}
    if len(repos) > 1:
        notes.append(f"the questions asked name {len(repos)} repositories; --repo picks one")
    commits = {answer.case.commit for answer in run.answers} - {""}
    if commits and in_repository(engine.root):
        head = resolve_ref(engine.root, "HEAD")
        other = sum(bool(answer.case.commit) and answer.case.commit != head for answer in run.answers)
        if other:
            notes.append(f"{other} questions are about another commit than HEAD; their lines may have moved")
    return notes


def _complain(run: Run, history: CommitQuestions, wanted: int) -> None:
    """Raise a typed error if no commit became a question, or note that they are fewer than asked for."""
    if not run.answers:
        raise InvalidRequest(
            f"none of the {history.seen} commits looked at can be a question: {counts_by_reason(run)}",
            hint=history.shortage(),
            details={"left_out": {item.id: item.reason.value for item in run.left_out[:_NAMED]}},
        )
    if len(run.answers) < wanted:
        run.notes.append(f"{len(run.answers)} of {wanted} questions: {history.shortage()}")


def counts_by_reason(run: Run) -> str:
    """Return how many questions were left out for each reason."""
    counts = Counter(item.reason.value for item in run.left_out)
    return ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()))


def report_progress(engine: Engine, done: int, total: int) -> None:
    """Tell the caller how far an evaluation is, and end it if the caller has gone."""
    if done < total:
        engine.token.check()
    if engine.progress is not None:
        engine.progress(done, total)
