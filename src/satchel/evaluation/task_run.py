"""Replay fixes: at the parent of each, from its message alone, is all found that it changes, at what cost?

Nothing of the fix or of what came later is visible: files and history are those of the parent. No model takes
part, so the same history gives the same figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack
from itertools import islice
from statistics import median

import msgspec

from satchel.engine import Engine
from satchel.errors import IndexBusy, InvalidQuery, InvalidRequest
from satchel.evaluation.cases import LeftOut, LeftOutReason
from satchel.evaluation.fixes import Fix, FixCommits, Line, Task
from satchel.evaluation.history import ID_DIGITS
from satchel.evaluation.metrics import DEFINITIONS, PACK_BUDGETS, POLICIES, Result
from satchel.evaluation.policies import (
    CEILING,
    FIRST_PACK,
    AgentCalls,
    Packs,
    seen_after_next,
    tokens_of_one_pack,
    tokens_until_seen,
)
from satchel.evaluation.ripgrep import Ripgrep, WorkCopy, find_ripgrep
from satchel.evaluation.run import PAST_INDEX, Run, ScoredAnswer, counts_by_reason, report_progress
from satchel.tokenizers import Tokenizer
from satchel.walking.git_trees import GitTree

FEWEST = 5  # with fewer replayed fixes, shares say nothing
BASELINE = "ripgrep"
_SHOWN = 8_000  # tokens of the pack whose items are saved
_NAMED = 20  # commits listed in the details of an error
WITHOUT_RIPGREP = "rg is not on the PATH: the baselines ripgrep and whole files are left out"


class PolicyCost(msgspec.Struct, frozen=True):
    """What a policy cost over all replayed fixes. A fix that it did not reach counts as dearer than any that
    it did: `median_of_all` is None if that is the middle one."""

    policy: str
    fixes: int
    reached: int
    median_of_reached: float | None
    median_of_all: float | None
    cheaper_than_ripgrep: int | None = None  # fixes; None where ripgrep was not run
    dearer_than_ripgrep: int | None = None


def run_tasks(engine: Engine, wanted: int, tokenizer: Tokenizer, tokenizer_name: str) -> Run:
    """Replay the last fixes of the history, each at its parent, oldest first so that files which two parents
    share are parsed once. The user's files and .git are only read."""
    with _Replay(engine, wanted, tokenizer, tokenizer_name) as replay:
        return replay.run_all()


class _Replay(ExitStack):
    """One run over the fixes of a repository."""

    def __init__(self, engine: Engine, wanted: int, tokenizer: Tokenizer, tokenizer_name: str) -> None:
        super().__init__()
        self.fixes = FixCommits(engine.root, wanted)
        self._engine = engine
        self._wanted = wanted
        self._tokenizer = tokenizer
        self._tokenizer_name = tokenizer_name
        self._store = engine.store.beside(PAST_INDEX)
        self._run = Run()
        self._ripgrep = find_ripgrep()
        self._copy: WorkCopy | None = self.enter_context(WorkCopy()) if self._ripgrep else None

    def run_all(self) -> Run:
        """Return the outcome of all fixes, the newest first."""
        run, history = self._run, self.fixes.history
        candidates = self.fixes.candidates()
        order: dict[str, int] = {}
        while len(run.answers) < self._wanted and (batch := self._next(candidates)):
            order.update((fix.commit.id[:ID_DIGITS], len(order) + at) for at, fix in enumerate(batch))
            for fix in reversed(batch):
                self._replay(fix)
                report_progress(self._engine, len(run.answers), self._wanted)
        report_progress(self._engine, self._wanted, self._wanted)
        run.answers.sort(key=lambda answer: order[answer.case.id])
        run.left_out += history.left_out
        run.seen = history.seen
        if not self._ripgrep:
            run.notes.append(WITHOUT_RIPGREP)
        self._complain()
        return run

    def _next(self, candidates: Iterator[Fix]) -> list[Fix]:
        return list(islice(candidates, self._wanted - len(self._run.answers)))

    def _replay(self, fix: Fix) -> None:
        """Bring the index of the past to the parent of a fix, and add the outcome or why there is none."""
        engine = self._engine
        tree = GitTree(engine.root, fix.parent, engine.options.walk)
        progress = engine.progress if not self._store.exists() else None  # only the first takes long
        with Engine(
            engine.root, self._store, engine.options, tree, token=engine.token, progress=progress
        ) as past:
            generation = past.refresh().generation
            task = self.fixes.task(fix, past.snapshot())
            if isinstance(task, Task):
                self._ask(past, task)
            else:
                self.fixes.history.leave_out(fix.commit, task)
            if past.snapshot().generation != generation:
                raise IndexBusy(
                    "another evaluation moved the index of past trees", hint="run one evaluation at a time"
                )

    def _ask(self, past: Engine, task: Task) -> None:
        """Ask for one task and add its scores and costs."""
        query = task.case.query
        past.corpus()  # loading the index is no part of a pack
        self._run.profile = past.profile
        try:
            start = time.perf_counter()
            packs = Packs(past, query, self._tokenizer_name)
            packs.of(FIRST_PACK)
            elapsed = time.perf_counter() - start
        except InvalidQuery as error:
            self._run.left_out.append(LeftOut(task.case.id, LeftOutReason.INVALID_QUERY, error.message))
            return
        calls = AgentCalls(past, packs, query)
        tokens = self._tokens(past, task, packs, calls)
        seen = [*(packs.lines(budget) for budget in PACK_BUDGETS), seen_after_next(packs, calls)]
        scores = {name: _all_seen(task, lines) for name, lines in zip(DEFINITIONS, seen, strict=True)}
        scores |= {f"reached@{name}": float(cost is not None) for name, cost in tokens.items()}
        self._run.answers.append(ScoredAnswer(task.case, _results(packs), scores, elapsed * 1000, tokens))

    def _tokens(self, past: Engine, task: Task, packs: Packs, calls: AgentCalls) -> dict[str, int | None]:
        """Return what each policy costs for one task."""
        count = self._tokenizer.count
        tokens = {
            "pack": tokens_of_one_pack(task.lines, packs, count),
            "next": tokens_until_seen(task.lines, calls.pack_then_next(), count),
            "search": tokens_until_seen(task.lines, calls.search_then_get(), count),
        }
        if self._copy is not None:
            snapshot = past.snapshot()
            self._copy.update(snapshot)
            ripgrep = Ripgrep(self._ripgrep, self._copy)
            message = task.case.query
            tokens[BASELINE] = tokens_until_seen(task.lines, ripgrep.windows(message, snapshot), count)
            tokens["files"] = tokens_until_seen(task.lines, ripgrep.whole_files(message, snapshot), count)
        return tokens

    def _complain(self) -> None:
        """Raise a typed error if too few commits are fixes, or note that they are fewer than asked for."""
        run, history = self._run, self.fixes.history
        found = f"{len(run.answers)} of {history.seen} commits looked at can be replayed as fixes"
        if len(run.answers) < min(FEWEST, self._wanted):
            raise InvalidRequest(
                f"{found}: {counts_by_reason(run)}",
                hint=history.shortage(),
                details={"left_out": {item.id: item.reason.value for item in run.left_out[:_NAMED]}},
            )
        if len(run.answers) < self._wanted:
            run.notes.append(f"{found}, {self._wanted} were asked for: {history.shortage()}")


def costs(answers: Sequence[ScoredAnswer]) -> list[PolicyCost]:
    """Return what each policy cost over all answers that were replayed."""
    return [
        _cost(policy, answers)
        for policy in POLICIES
        if any(policy in (item.tokens or {}) for item in answers)
    ]


def _cost(policy: str, answers: Sequence[ScoredAnswer]) -> PolicyCost:
    spent = [(answer.tokens or {}).get(policy) for answer in answers]
    reached = sorted(tokens for tokens in spent if tokens is not None)
    infinite = float("inf")
    middle = median([infinite if tokens is None else tokens for tokens in spent])
    cheaper = dearer = None
    if policy != BASELINE and any(BASELINE in (answer.tokens or {}) for answer in answers):
        theirs = [(answer.tokens or {}).get(BASELINE) for answer in answers]
        pairs = [(one or infinite, other or infinite) for one, other in zip(spent, theirs, strict=True)]
        cheaper = sum(one < other for one, other in pairs)
        dearer = sum(one > other for one, other in pairs)
    return PolicyCost(
        policy,
        len(spent),
        len(reached),
        float(median(reached)) if reached else None,
        float(middle) if middle <= CEILING else None,
        cheaper,
        dearer,
    )


def _all_seen(task: Task, lines: Set[Line]) -> float:
    return float(all(definition.lines <= lines for definition in task.definitions))


def _results(packs: Packs) -> tuple[Result, ...]:
    """Return the items of one pack, as they are saved."""
    pack = packs.of(_SHOWN)
    items = pack.items if pack is not None else ()
    return tuple(Result(item.path, item.start_line, item.end_line, item.content) for item in items)
