"""How true is the code graph? `refs`, imports, bases, related items and `map` against compilers.

    python benchmarks/graph/run.py setup --root LAB
    python benchmarks/graph/run.py truth --root LAB
    python benchmarks/graph/run.py measure --root LAB

LAB is a folder outside the tree: clones, tools, truth files and indexes live there. `truth` asks pyright,
the TypeScript compiler, go/types and clangd, and takes minutes; `measure` only reads what they said.
`--repo` chooses repositories (default: six small ones); those without a truth file are not measured.
`--sample held` takes the definitions that nobody tunes on. `--show 20` prints wrong and missed uses with
their source lines, `--group method` only those of one kind of definition.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from graph import sampling
from graph import truth as truths
from graph.measuring import measure
from graph.report import report
from graph.repositories import REPOSITORIES, SMALL, Lab, Repository, commit_of
from graph.setup_lab import set_up
from graph.showing import show
from satchel.engine import Engine
from satchel.storage.memory import MemoryStore

_ORIGIN = "https://github.com/{owner}/{name}"
_ALL = 10_000_000


def main() -> int:
    """Run one of the commands above."""
    arguments = _arguments()
    lab = Lab(arguments.root, arguments.indexes)
    chosen = _chosen(arguments.repo)
    if arguments.command == "setup":
        print("\n".join(set_up(lab, chosen, arguments.origin) or ["everything is in place"]))
    elif arguments.command == "truth":
        for repository in chosen:
            _make_truth(lab, repository)
    else:
        _measure(lab, [each for each in chosen if lab.truth(each).exists()], arguments)
    return 0


def _make_truth(lab: Lab, repository: Repository) -> None:
    """Make one truth file and say what it holds."""
    started = time.monotonic()
    found = _ask_oracle(lab, repository)
    truths.write(lab.truth(repository), found)
    sampled = sum(bool(definition.sample) for definition in found.definitions)
    uses = sum(len(definition.uses) for definition in found.definitions)
    print(
        f"{repository.name}: {len(found.definitions)} definitions ({sampled} sampled, {found.missing} unknown"
        f" to the oracle), {uses} uses, {len(found.imports)} imports, {len(found.bases)} bases,"
        f" {time.monotonic() - started:.0f} s, {len(found.notes)} notes",
        flush=True,
    )


def _ask_oracle(lab: Lab, repository: Repository) -> truths.Truth:
    """Let Satchel list the definitions of a repository, and the oracle of its language say where each one is
    used."""
    clone = lab.clone(repository)
    with Engine.open(clone, store=MemoryStore()) as engine:
        engine.refresh()
        symbols, _ = engine.all_symbols(_ALL)
    definitions = sampling.definitions_of(symbols, repository)
    sampling.mark_samples(definitions, repository)
    oracle = importlib.import_module(f"graph.{repository.language}_oracle")
    found: truths.Truth = oracle.ask(lab, repository, definitions, commit_of(clone))
    return found


def _measure(lab: Lab, chosen: Sequence[Repository], arguments: argparse.Namespace) -> None:
    """Measure repositories, print the text, and keep it where that is wanted."""
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


def _chosen(names: Sequence[str] | None) -> list[Repository]:
    """Return the repositories that were asked for."""
    if not names:
        return list(SMALL)
    return list(REPOSITORIES.values()) if "all" in names else [REPOSITORIES[name] for name in names]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("setup", "truth", "measure"))
    parser.add_argument("--root", type=Path, required=True, help="the lab")
    parser.add_argument("--indexes", type=Path, help="the folder of the indexes (default: in the lab)")
    parser.add_argument("--repo", action="append", choices=(*REPOSITORIES, "all"), help="repeatable")
    parser.add_argument("--from", dest="origin", default=_ORIGIN, help="where clones come from")
    parser.add_argument("--sample", choices=sampling.SAMPLES, default=sampling.SAMPLES[0])
    parser.add_argument("--only-uses", action="store_true", help="leave edges, packs and the map out")
    parser.add_argument("--show", type=int, default=0, help="so many faults of each kind and repository")
    parser.add_argument("--group", choices=("function", "method", "type"), help="show only these definitions")
    parser.add_argument("--out", type=Path, help="keep the text here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
