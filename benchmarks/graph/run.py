"""How true is the code graph? `refs`, imports, bases, related items and `map` against compilers.

    python benchmarks/graph/run.py setup --root LAB --from 'https://github.com/{owner}/{name}'
    python benchmarks/graph/run.py truth --root LAB
    python benchmarks/graph/run.py measure --root LAB --out benchmarks/results/graph.txt

LAB is a folder outside the tree: clones, tools, truth files and indexes live there. `truth` asks pyright,
the TypeScript compiler, go/types and clangd, and takes minutes; `measure` only reads what they said.
`--repo` chooses repositories (default: six small ones; `--repo all` for every one that has a truth file),
`--sample held` the definitions that nobody tunes on, `--show 20` prints wrong and missed uses with their
source lines, `--group method` only those of one kind of definition.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import truth as truths
from edge_scores import EDGE_HEAD, edge_line
from make_truth import make_truth
from measuring import Measured, measure
from repositories import REPOSITORIES, SMALL, Lab, Repository
from sampling import SAMPLES
from setup_lab import set_up
from showing import show
from use_scores import calibration_table, use_table

INTRODUCTION = """\
How true is the code graph? Measured against pyright, TypeScript's language service, go/types and clangd.
P R: the share of what is stated that is true, and the share of what is true that is stated, by line.
"""


def main() -> int:
    """Run one of the commands above."""
    arguments = _arguments()
    lab = Lab(arguments.root)
    chosen = _chosen(lab, arguments.repo)
    if arguments.command == "setup":
        print("\n".join(set_up(lab, chosen, arguments.origin) or ["everything is in place"]))
    elif arguments.command == "truth":
        for repository in chosen:
            _make(lab, repository)
    else:
        _measure(lab, chosen, arguments)
    return 0


def _make(lab: Lab, repository: Repository) -> None:
    """Make one truth file and say what it holds."""
    started = time.monotonic()
    found = make_truth(lab, repository)
    sampled = sum(bool(definition.sample) for definition in found.definitions)
    uses = sum(len(definition.uses) for definition in found.definitions)
    print(
        f"{repository.name}: {len(found.definitions)} definitions ({sampled} sampled, {found.missing} unknown"
        f" to the oracle), {uses} uses, {len(found.imports)} imports, {len(found.bases)} bases,"
        f" {time.monotonic() - started:.0f} s",
        flush=True,
    )


def _measure(lab: Lab, chosen: Sequence[Repository], arguments: argparse.Namespace) -> None:
    """Measure repositories, print the text and keep it if that is wanted."""
    measured = []
    for repository in chosen:
        known = truths.read(lab.truth(repository))
        measured.append(measure(lab, repository, known, arguments.sample, only_uses=arguments.only_uses))
    text = report(measured, arguments.sample)
    print(text, end="")
    if arguments.show:
        print(show(lab, measured, arguments.show, arguments.group), end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


def report(measured: Sequence[Measured], sample: str) -> str:
    """Return all figures as text that can be compared by lines."""
    cases = [case for each in measured for case in each.cases]
    commits = ", ".join(f"{each.repository.name} {each.commit[:10]}" for each in measured)
    lines = [INTRODUCTION, f"Sample: {sample}. Repositories: {commits}", ""]
    lines += ["Uses of sampled definitions", *use_table(cases), ""]
    lines += ["Stated confidence and truth", *calibration_table(cases), ""]
    if any(each.imports for each in measured):
        lines += ["Import edges", EDGE_HEAD]
        lines += [edge_line(each.repository.name, each.imports) for each in measured if each.imports]
        lines += ["", "Bases of classes", EDGE_HEAD]
        lines += [edge_line(each.repository.name, each.bases) for each in measured if each.bases]
        lines.append("")
    if any(each.related for each in measured):
        lines += ["Related items at distance 1 that have a true edge", *_related(measured), ""]
        lines += ["Map: the first 30, beside the 30 that most files refer to", *_map(measured)]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _related(measured: Sequence[Measured]) -> list[str]:
    lines = []
    for each in measured:
        if each.related is None:
            continue
        true, false = each.related.true, each.related.false
        counts = [
            f"{label} {true[label]} of {true[label] + false[label]}" for label in sorted({*true, *false})
        ]
        total = true.total() + false.total()
        share = f"{true.total() / total:.2f}" if total else "-"
        lines.append(f"{each.repository.name:22}{share:>6}  {', '.join(counts)}")
    return lines


def _map(measured: Sequence[Measured]) -> list[str]:
    lines = []
    for each in measured:
        if each.map is None:
            continue
        name, found = each.repository.name, each.map
        lines.append(f"{name:12} {found.overlap:3} shared, {len(found.unused)} that nothing refers to")
        lines.append(f"{'':12} shown: {', '.join(symbol for _, symbol in found.shown)}")
        lines.append(f"{'':12} most referred to: {', '.join(symbol for _, symbol in found.best)}")
        if found.unused:
            lines.append(f"{'':12} nothing refers to: {', '.join(symbol for _, symbol in found.unused)}")
    return lines


def _chosen(lab: Lab, names: Sequence[str] | None) -> list[Repository]:
    """Return the repositories that were asked for."""
    if names == ["all"]:
        return [each for each in REPOSITORIES.values() if lab.truth(each).exists()]
    return [REPOSITORIES[name] for name in names] if names else list(SMALL)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("setup", "truth", "measure"))
    parser.add_argument("--root", type=Path, required=True, help="the lab")
    parser.add_argument(
        "--repo", action="append", help="a repository (repeatable), or all", choices=(*REPOSITORIES, "all")
    )
    parser.add_argument(
        "--from", dest="origin", default="https://github.com/{owner}/{name}", help="where clones come from"
    )
    parser.add_argument("--sample", choices=SAMPLES, default=sampling.SAMPLES[0])
    parser.add_argument("--only-uses", action="store_true", help="leave edges, packs and the map out")
    parser.add_argument(
        "--show", type=int, default=0, help="so many wrong and missed uses of each repository"
    )
    parser.add_argument("--group", choices=("function", "method", "type"), help="show only these definitions")
    parser.add_argument("--out", type=Path, help="keep the text here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
