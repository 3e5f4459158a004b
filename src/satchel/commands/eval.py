"""`satchel eval`: measure the quality of answers on a dataset or on the history of the repository."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from satchel import tokenizers
from satchel.commands.command import BareValue, Command, Flag, Group, LocalPath, Positional
from satchel.commands.eval_answer import (
    EvalMeta,
    EvalResponse,
    GateItem,
    comparison_item,
    comparison_notes,
    counts_of_left_out,
    examples_of_left_out,
    gate_item,
    mean_items,
    policy_item,
)
from satchel.errors import InvalidRequest
from satchel.plugins import late
from satchel.settings import FAST, QUALITY
from satchel.tokenizers import CharsPerToken

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.evaluation import cases, kept_runs, plot, saved, statistics, task_run
    from satchel.evaluation import run as evaluation
else:  # listing the commands loads this file, and few of its callers run it
    cases, kept_runs, plot, evaluation, saved, statistics, task_run = (
        late(f"satchel.evaluation.{name}")
        for name in ("cases", "kept_runs", "plot", "run", "saved", "statistics", "task_run")
    )

MAX_HISTORY = 10_000
_TASKS = 50  # fixes that are replayed if no number is given: some minutes on a large repository


class By(StrEnum):
    """What groups are made of."""

    CATEGORY = "category"
    LANGUAGE = "language"
    SET = "set"


class Profile(StrEnum):
    """How hits are ranked."""

    QUALITY = QUALITY
    FAST = FAST


class EvalRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    dataset: Annotated[
        str,
        Meta(description="a file of questions with known answers (JSON lines)"),
        Positional(),
        LocalPath(),
    ] = ""
    history: Annotated[
        int | None, Meta(description="take the questions from the last so many usable commits")
    ] = None
    tasks: Annotated[
        int | None,
        Meta(description="replay the last so many fixes of the history (50 if no number is given)"),
        BareValue(_TASKS),
    ] = None
    repo: Annotated[str, Meta(description="only the dataset's rows of this repository")] = ""
    set: Annotated[str, Meta(description="only the dataset's rows of this set")] = ""
    by: Annotated[By | None, Meta(description="also by category, language or set")] = None
    tokenizer: Annotated[
        str,
        Meta(description="how tokens are counted (default: characters / 4; o200k with --tasks)"),
        LocalPath(or_name=True),
    ] = ""
    profile: Annotated[Profile | None, Meta(description="rank by quality or fast")] = None
    save: Annotated[
        str, Meta(description="write every question with its results and scores here"), LocalPath()
    ] = ""
    keep: Annotated[
        str, Meta(description="keep it with the index under this name, for `satchel runs` and `satchel view`")
    ] = ""
    compare: Annotated[
        str, Meta(description="compare with an evaluation that was saved here"), LocalPath()
    ] = ""
    compare_profile: Annotated[
        Profile | None, Meta(description="ask everything again with this profile, and compare with that")
    ] = None
    plot: Annotated[str, Meta(description="draw recall against tokens here (SVG)"), LocalPath()] = ""
    gates: Annotated[
        tuple[str, ...],
        Meta(description="METRIC>=VALUE that must hold, else the exit code is 1 (repeatable)"),
        Flag("--gate"),
    ] = ()


def run(engine: Engine, request: EvalRequest) -> EvalResponse:
    """Measure how good the answers are: on a file of questions, or on this repository's own history.

    With --history, a commit message is the question and the files and lines it changed are the answer,
    asked of the tree of its parent; that tree is read from git, nothing is checked out. Shows NDCG,
    recall, all-gold, MRR and recall inside token budgets with 95 % intervals; --compare says better,
    worse or no difference by a paired bootstrap; --gate makes it a check.

    With --tasks, fixes are replayed: at the parent of each, from its message alone, does a pack hold every
    definition that the fix changes, and how many tokens are read until all changed lines were seen? With
    `rg` on the PATH, reading by ripgrep is measured beside it.
    """
    _check(request)
    gates = [statistics.read_gate(text) for text in request.gates]
    other = saved.load(Path(request.compare)) if request.compare else None
    done = _run_profile(engine, request, request.profile)
    this_run = _saved_run(done, request)
    if request.compare_profile is not None:
        other = _saved_run(_run_profile(engine, request, request.compare_profile), request)
    comparison = saved.compare(this_run, other) if other is not None else None
    means = statistics.summarise(done.answers)
    answer = _response(request, done, this_run, means, [gate_item(gate, means) for gate in gates], comparison)
    return replace(answer, written=_write(engine, request, this_run, means, other))


def _response(
    request: EvalRequest,
    done: evaluation.Run,
    this_run: saved.Saved,
    means: Mapping[str, statistics.Mean],
    gates: list[GateItem],
    comparison: saved.EvaluationComparison | None,
) -> EvalResponse:
    """Return what a run says, before anything of it is written."""
    latency = statistics.latency(done.answers)
    groups = statistics.groups(done.answers, request.by.value) if request.by else {}
    return EvalResponse(
        ok=all(gate.ok for gate in gates),
        source=this_run.source,
        profile=this_run.profile,
        tokenizer=this_run.tokenizer,
        seen=done.seen,
        asked=len(done.answers),
        metrics=mean_items(means),
        meta=EvalMeta(latency.p50, latency.p95),
        left_out=counts_of_left_out(done.left_out),
        left_out_examples=examples_of_left_out(done.left_out),
        unreachable_gold=done.unreachable,
        groups={name: mean_items(values) for name, values in groups.items()},
        gates=gates,
        comparison=comparison_item(_other_name(request), comparison) if comparison is not None else None,
        policies=[policy_item(cost) for cost in task_run.costs(done.answers)] if _is_replay(request) else [],
        notes=done.notes + comparison_notes(comparison),
    )


def _check(request: EvalRequest) -> None:
    """Raise if options contradict each other or are out of range."""
    if [bool(request.dataset), request.history is not None, request.tasks is not None].count(True) != 1:
        raise InvalidRequest(
            "an evaluation takes a dataset, --history or --tasks, one of them",
            hint="satchel eval questions.jsonl, satchel eval --history 100, or satchel eval --tasks",
        )
    if request.compare and request.compare_profile is not None:
        raise InvalidRequest(
            "--compare and --compare-profile are two comparisons", hint="ask for one at a time"
        )
    for name, wanted in (("history", request.history), ("tasks", request.tasks)):
        if wanted is None:
            continue
        if not 1 <= wanted <= MAX_HISTORY:
            raise InvalidRequest(
                f"{name} is {wanted}, it must be from 1 to {MAX_HISTORY}", hint=f"use --{name} 100"
            )
        if request.repo or request.set:
            raise InvalidRequest("--repo and --set choose rows of a dataset", hint="leave them out")
    if request.keep:
        kept_runs.check_name(request.keep)
    if _is_replay(request) and request.plot:
        raise InvalidRequest("--plot draws the recall of searches", hint="leave it out with --tasks")


def _is_replay(request: EvalRequest) -> bool:
    return request.tasks is not None


def _saved_run(done: evaluation.Run, request: EvalRequest) -> saved.Saved:
    """Return a run in the form that is saved and compared."""
    kinds = {"tasks": request.tasks, "history": request.history, "dataset": 0}
    source = next(name for name, wanted in kinds.items() if wanted is not None)
    usual = tokenizers.DEFAULT_BUDGET if _is_replay(request) else "characters / 4"
    return saved.keep(done, source, request.tokenizer or usual)


def _other_name(request: EvalRequest) -> str:
    """Return the name of the run that this one is compared with."""
    return f"profile {request.compare_profile.value}" if request.compare_profile else request.compare


def _run_profile(engine: Engine, request: EvalRequest, profile: Profile | None) -> evaluation.Run:
    """Run the evaluation with a ranking profile; None is the one of the engine."""
    if profile is None:
        return _run(engine, request)
    with evaluation.with_profile(engine, profile.value) as other:
        done = _run(other, request)
        done.notes += other.notes
        return done


def _run(engine: Engine, request: EvalRequest) -> evaluation.Run:
    """Ask all questions of the dataset or the history, or replay its fixes."""
    if request.tasks is not None:
        name = request.tokenizer or tokenizers.DEFAULT_BUDGET
        return task_run.run_tasks(engine, request.tasks, tokenizers.get(name), name)
    count = tokenizers.get(request.tokenizer).count if request.tokenizer else _estimate_tokens
    if request.history is not None:
        return evaluation.run_history(engine, request.history, count)
    rows = cases.read_dataset(Path(request.dataset))
    chosen = cases.choose(rows, repo=request.repo, set_name=request.set)
    return evaluation.run_dataset(engine, chosen, count)


def _estimate_tokens(text: str) -> float:
    return len(text) / CharsPerToken.USUAL


def _write(
    engine: Engine,
    request: EvalRequest,
    this_run: saved.Saved,
    means: Mapping[str, statistics.Mean],
    other: saved.Saved | None,
) -> list[str]:
    """Write the files that the request asks for; return their paths."""
    if request.save:
        text = msgspec.json.format(msgspec.json.encode(this_run), indent=1).decode() + "\n"
        saved.write_text(Path(request.save), text)
    if request.plot:
        lines = plot.recall_curves("this run" if other else "", means)
        if other is not None:
            lines += plot.recall_curves(_label(request), saved.means_of(other))
        title = f"{engine.root.name}: recall over {len(this_run.queries)} questions"
        saved.write_text(Path(request.plot), plot.recall_plot(title, lines))
    kept = _keep(engine, request.keep, this_run) if request.keep else ""
    return [path for path in (request.save, request.plot, kept) if path]


def _keep(engine: Engine, name: str, this_run: saved.Saved) -> str:
    """Keep a run beside the index; return its file."""
    folder = engine.index_folder()
    if folder is None:
        raise InvalidRequest("this index has no folder to keep a run in", hint="use --save FILE")
    return str(kept_runs.keep_run(folder, name, this_run, datetime.now(UTC)))


def _label(request: EvalRequest) -> str:
    """Return the label of the other run in a plot."""
    return _other_name(request) if request.compare_profile else Path(request.compare).stem


COMMAND = Command("eval", EvalRequest, EvalResponse, run, fresh=False, group=Group.CHECK)
