"""What a person at a terminal reads of an index, its packs and its evaluation: one function per response."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from satchel.plugins import late
from satchel.rendering.style import Style
from satchel.rendering.visible import one_line
from satchel.wording import counted

if TYPE_CHECKING:  # an answer is there, so its own command is loaded: the others need not be
    from satchel.commands.build import BuildResponse
    from satchel.commands.eval_answer import EvalResponse
    from satchel.commands.index import IndexResponse
    from satchel.commands.runs import RunsResponse
    from satchel.commands.stats import StatsResponse
    from satchel.commands.status import StatusResponse
    from satchel.commands.sync import SyncResponse
    from satchel.commands.validate import ValidateResponse
    from satchel.commands.verify import VerifyItem, VerifyResponse
    from satchel.rendering import eval_table
    from satchel.verifying.validation import Problem
else:
    eval_table = late("satchel.rendering.eval_table")


def _index(response: IndexResponse, style: Style) -> str:
    kept = response.kept + response.touched  # a touched file has other times and the same content
    done = f"{response.parsed} parsed, {response.moved} moved, {response.dropped} dropped, {kept} kept"
    # Where nothing changed, files may not even have been counted.
    told = f"updated: {done}, " if response.changed else "already up to date: "
    rows = [f"Index {told}{response.skipped} left out (generation {response.generation})"]
    if response.scip is not None:
        rows.append(str(response.scip))
    if response.exported_bytes is not None:
        rows.append(f"Exported: {response.exported_bytes:,} bytes")
    return "\n".join([*rows, *(f"note: {one_line(note)}" for note in response.notes)]) + "\n"


def _build(response: BuildResponse, style: Style) -> str:
    word = "written" if response.written else "would be written (dry run)"
    rows = [
        f"{style.path(one_line(response.path))} {word}",
        f"  {counted(response.docs, 'document')}, {counted(response.chunks, 'chunk')},"
        f" {counted(response.digest_entries, 'digest entry', 'digest entries')}",
    ]
    rows += [f"  {one_line(entry.doc)}: {one_line(entry.summary)}" for entry in response.digest]
    return "\n".join(rows) + "\n"


def _validate(response: ValidateResponse | SyncResponse, style: Style) -> str:
    result = "holds" if response.ok else counted(len(response.problems), "problem")
    rows = [f"{style.path(one_line(response.path))}: {result}, {counted(response.chunks, 'chunk')}"]
    return "\n".join([*rows, *map(_problem, response.problems)]) + "\n"


def _problem(problem: Problem) -> str:
    return f"  {problem.kind}: {one_line(problem.subject)}: {one_line(problem.detail)}"


def _stats(response: StatsResponse, style: Style) -> str:
    rows = [
        f"{one_line(response.segment)}: {counted(response.files, 'file')},"
        f" {counted(response.chunks, 'chunk')},"
        f" {counted(response.symbols, 'symbol')}, {counted(response.lines, 'line')}",
        f"  text {response.text_bytes / 1e6:.1f} MB, index {response.index_bytes / 1e6:.1f} MB,"
        f" {counted(response.redactions, 'redacted value')}, generation {response.generation}",
    ]
    for title, counts in (("languages", response.languages), ("kinds", response.kinds)):
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        rows.append(f"  {title}: " + ", ".join(f"{name} {count:,}" for name, count in ranked))
    if response.queries is not None:
        asked = response.queries
        rows.append(
            f"  questions: {asked.asked:,}, without an answer {asked.without_answer:,},"
            f" p50 {asked.p50_ms:g} ms, p95 {asked.p95_ms:g} ms, about {asked.tokens_saved:,} tokens saved"
        )
        rows += [f"    nothing found: {one_line(query)}" for query in asked.unanswered]
    return "\n".join(rows) + "\n"


def _status(response: StatusResponse, style: Style) -> str:
    state = f"stale ({', '.join(response.stale_reasons)})" if response.stale else "fresh"
    if not response.exists:
        state = "missing; `satchel index` builds it"
    rows = [
        f"{style.path(one_line(response.root))}: index {state}",
        f"  {counted(response.files, 'file')}, {counted(response.chunks, 'chunk')},"
        f" generation {response.generation}",
    ]
    if response.skipped_counts:
        counts = ", ".join(f"{reason} {count}" for reason, count in response.skipped_counts.items())
        rows.append(f"  left out: {counts}")
    for item in response.skipped:
        rows.append(f"  {item.reason:<16} {one_line(item.path)}  {style.dim(one_line(item.detail))}".rstrip())
    if response.read_by_lines:
        rows.append("  read by lines, without symbols:")
    rows += [f"    {item.reason:<8} {one_line(item.path)}" for item in response.read_by_lines]
    if response.scip is not None:
        rows.append(f"  {response.scip}")
    return "\n".join(rows) + "\n"


def _eval(response: EvalResponse, style: Style) -> str:
    return eval_table.render_eval(response, style)


def _runs(response: RunsResponse, style: Style) -> str:
    rows = [
        f"{item.at}  {item.score:.4f} {item.metric:<18} {item.asked:>5} from {item.source:<8}"
        f" {style.name(one_line(item.name))}"
        for item in response.runs
    ]
    if not response.runs:
        rows.append("No run was kept: satchel eval --history 100 --keep NAME keeps one.")
    if response.comparison is not None:
        rows += [
            "",
            *(
                f"{one.metric:<20} {one.theirs:.4f} → {one.ours:.4f}  {one.verdict}"
                for one in response.comparison.differences
            ),
        ]
    if response.questions:
        rows += ["", f"the worst questions of {style.name(one_line(response.run))}"]
    for question in response.questions:
        before = f" (was {question.other:.3f})" if question.other is not None else ""
        rows.append(f"  {question.score:.3f}{before}  {one_line(question.query)[:100]}")
        rows.append(style.dim(f"         {one_line(', '.join(question.gold))}"))
    return "\n".join(rows) + "\n"


def _verify(response: VerifyResponse, style: Style) -> str:
    if response.refreshed:  # there is no file to write to, so the new pack is the answer
        return response.refreshed
    true = response.counts["true"]
    result = "all true" if response.ok else f"{len(response.items) - true} not true"
    rows = [f"{counted(len(response.items), 'citation')} ({response.format}): {result}"]
    rows += [_verified(item, style) for item in response.items]
    if response.written:
        rows.append(f"{style.path(one_line(response.written))} written")
    elif not response.ok:
        rows.append("the same with --refresh writes the pack as it is now")
    return "\n".join([*rows, *(f"  left out: {one_line(reason)}" for reason in response.left_out)]) + "\n"


def _verified(item: VerifyItem, style: Style) -> str:
    where = f"{one_line(item.path)}:{item.start_line}-{item.end_line}"
    if item.state == "true":
        return style.dim(f"  true     {where}")
    return f"  {style.error(f'{item.state.value:<7}')}  {style.path(where)}  {one_line(item.detail)}"


REPORTS: dict[str, Callable[[Any, Style], str]] = {
    "BuildResponse": _build,
    "EvalResponse": _eval,
    "IndexResponse": _index,
    "RunsResponse": _runs,
    "StatsResponse": _stats,
    "StatusResponse": _status,
    "SyncResponse": _validate,
    "ValidateResponse": _validate,
    "VerifyResponse": _verify,
}
"""By the name of the response type, as `FORMS` of `terminal.py`."""
