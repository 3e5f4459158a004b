"""How long does a pack of 8,000 tokens take: warm inside a process, and by command line?

    python benchmarks/pack_speed.py [--rounds 3]

On Django (see corpora.py), in CPU milliseconds. The figures are kept in results/pack_speed.txt. Then, if
`--git FOLDER` names a clone with history, what packs at other commits cost, and how many files were parsed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpora import default_cache, get
from measure import installed_satchel, measure
from search_speed import QUESTIONS

from satchel.engine import Engine
from satchel.rendering.packs import PACK_FORMATS

BUDGET = 8_000
RENDER = PACK_FORMATS.get("context").render
RESULTS = Path(__file__).parent / "results" / "pack_speed.txt"


def timed(work: Callable[[], object]) -> float:
    """CPU milliseconds."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def warm(folder: Path, index: Path, rounds: int) -> list[float]:
    """Every question once, then timed."""
    with Engine.open(folder, index_dir=index) as engine:
        engine.ensure_fresh()
        for question in QUESTIONS:
            engine.pack(question, budget_tokens=BUDGET, render=RENDER)
        return [
            timed(lambda question=question: engine.pack(question, budget_tokens=BUDGET, render=RENDER))
            for _ in range(rounds)
            for question in QUESTIONS
        ]


def by_command_line(folder: Path, index: Path, rounds: int) -> list[float]:
    """A process each."""
    options = ["--budget-tokens", str(BUDGET), "--format", "context"]
    options += ["--segment", str(folder), "--index-dir", str(index)]
    command = [*installed_satchel(), "pack"]
    return [measure([*command, question, *options]).cpu_s * 1000 for question in QUESTIONS[:5] * rounds]


def at_commits(folder: Path) -> list[str]:
    """Packs at older commits of a clone, twice each: what was parsed, and what it cost."""
    rows = []
    with tempfile.TemporaryDirectory() as index, Engine.open(folder, index_dir=index) as engine:
        spent = timed(engine.ensure_fresh)
        rows.append(f"work tree indexed: {spent / 1000:.1f} CPU s")
        for ref in ("HEAD", "HEAD~1", "HEAD~50", "HEAD~50"):
            started = time.process_time()
            with engine.at(ref) as past:
                past.pack(QUESTIONS[0], budget_tokens=BUDGET, render=RENDER)
                report = past.last_refresh
            spent = time.process_time() - started
            parsed = f"{report.parsed} parsed, {report.touched} touched" if report else "only opened"
            rows.append(f"pack at {ref:<8} {spent:6.2f} CPU s  {parsed}")
    return rows


def line(name: str, values: list[float]) -> str:
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"{name:<28} p50 {statistics.median(ordered):6.0f} ms   p95 {high:6.0f} ms   n {len(ordered)}"


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--git", type=Path, help="a clone with at least 50 commits")
    options = parser.parse_args()
    source = get("django", options.cache)
    with tempfile.TemporaryDirectory() as work:
        folder, index = Path(work) / "django", Path(work) / "index"
        shutil.copytree(source, folder)
        rows = [
            f"Packs of {BUDGET:,} tokens (o200k, format context) of Django, in CPU time.",
            "",
            line("warm, inside a process", warm(folder, index, options.rounds)),
            line("by command line", by_command_line(folder, index, options.rounds)),
        ]
    if options.git:
        rows += ["", *at_commits(options.git)]
    text = "\n".join(rows) + "\n"
    print(text, end="")
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
