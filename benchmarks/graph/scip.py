"""How true are the edges that a SCIP index adds? Each is compared with what the oracle of its language says.

    python benchmarks/graph/scip.py --root LAB zod=zod.scip httpx=httpx.scip

LAB is that of `run.py`, with a truth file for each repository. The SCIP files are made of the clones there:
`scip-typescript index`, `scip-python index . --project-name httpx`. `--older 20` gives them to the files of
20 commits before instead, all of them with an old time, and says how many documents of other contents are
believed by their text alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from graph import truth as truths
from graph.repositories import REPOSITORIES, Lab
from graph.truth import Truth
from satchel.code_facts import Rule, used_name
from satchel.commands.scip_counts import scip_counts
from satchel.engine import Engine
from satchel.ids import hash_bytes
from satchel.storage.memory import MemoryStore


class Edge(NamedTuple):
    """A use on a line of a file, and the definition that it means."""

    path: str
    line: int
    target: str
    name: str


class Line(NamedTuple):
    """What a row of the table counts."""

    right: int
    wrong: int

    def __str__(self) -> str:
        share = f"{self.right / (self.right + self.wrong):.3f}" if sum(self) else "-"
        return f"{self.right:>7} right {self.wrong:>6} wrong {share:>7}"


def main() -> int:
    """Print the shares of each repository that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, required=True, help="the lab")
    parser.add_argument("--show", type=int, default=0, help="so many wrong edges of each kind")
    parser.add_argument("--older", type=int, default=0, help="so many commits before the SCIP file was made")
    parser.add_argument("files", nargs="+", metavar="NAME=FILE", help="a repository and its SCIP file")
    arguments = parser.parse_args()
    lab = Lab(arguments.root)
    for written in arguments.files:
        name, _, file = written.partition("=")
        if arguments.older:
            _measure_older(lab, name, Path(file), arguments.older)
        else:
            _measure(lab, name, Path(file), arguments.show)
    return 0


def _measure_older(lab: Lab, name: str, file: Path, commits: int) -> None:
    """Print how many documents are believed of files that are not those that the SCIP file was made of."""
    clone = lab.clone(REPOSITORIES[name])
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / name
        subprocess.run(["git", "clone", "-q", "--shared", str(clone), str(old)], check=True)
        subprocess.run(["git", "-C", str(old), "checkout", "-q", f"HEAD~{commits}"], check=True)
        for path in old.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                os.utime(path, (1, 1))
        with Engine.open(old, store=MemoryStore()) as engine:
            engine.refresh(scip=[file])
            bound = engine.snapshot().scip_documents()
            known = {record.path: record.file_hash for record in engine.snapshot().files()}
    same = {path for path in bound if known.get(path) == hash_bytes((clone / path).read_bytes())}
    other = bound.keys() & known.keys() - same
    believed = sorted(path for path in other if bound[path])
    print(f"{name}, {commits} commits before: {len(same)} documents of the same content, of which")
    print(f"  {sum(bool(bound[path]) for path in same)} are believed; {len(other)} of another, of which")
    print(f"  {len(believed)} are believed: {', '.join(believed) or 'none'}")


def _measure(lab: Lab, name: str, file: Path, show: int) -> None:
    repository = REPOSITORIES[name]
    truth = truths.read(lab.truth(repository))
    file.touch()  # the clones are at the commit of the truth file, whenever they were made
    with Engine.open(lab.clone(repository), store=MemoryStore()) as engine:
        engine.refresh()
        truth = truth.within({record.path for record in engine.snapshot().files()})
        before = _edges(engine)
        engine.refresh(scip=[file])
        after = _edges(engine)
        counts = scip_counts(engine.snapshot())
    true, defined = _true(truth)
    judge = truth.judges()

    def known(edges: set[Edge]) -> set[Edge]:
        return {
            edge
            for edge in edges
            if (edge.target, edge.name) in defined
            and judge(edge.path, edge.line)
            and (edge.path, edge.line) not in defined[edge.target, edge.name]
        }

    added = known({edge for edge, rule in after.items() if rule is Rule.SCIP})
    gone = known(before.keys() - after.keys())
    print(f"{name} at {truth.commit[:10]}: {counts}")
    for title, edges in (
        ("by rules, before", known(set(before))),
        ("by rules and SCIP", known(set(after))),
        ("added by SCIP", added),
        ("of rules, overruled", gone),
    ):
        found = Line(len(edges & true), len(edges - true))
        recall = f"{found.right / len(true):.3f} of {len(true)}" if title.startswith("by") else ""
        print(f"  {title:<22}{found}  {recall}".rstrip())
    for title, edges in (("added", added - true), ("overruled and right", gone & true)):
        for edge in sorted(edges)[:: max(1, len(edges) // show)][:show] if show else ():
            print(f"    {title}: {edge.path}:{edge.line} {edge.target} {edge.name}")


def _edges(engine: Engine) -> dict[Edge, Rule]:
    """Return every edge of an index with the rule that decided it."""
    found: dict[Edge, Rule] = {}
    snapshot = engine.snapshot()
    for record in snapshot.files():
        facts, (edges,) = snapshot.facts(record.path), snapshot.edges([record.path])
        rows = [
            (line, used_name(facts.uses[number].expression), target, rule)
            for number, target, rule in edges.uses
            for line in facts.uses[number].lines
        ]
        rows += [(line, name, target, rule) for line, name, _, target, rule in edges.by_line]
        for line, _, target, rule in rows:
            meant = edges.targets[target]
            found.setdefault(Edge(record.path, line, meant.path, meant.name), rule)
    return found


def _true(truth: Truth) -> tuple[set[Edge], dict[tuple[str, str], set[tuple[str, int]]]]:
    """Return the true edges, and the lines of the names of each definition that the oracle knows."""
    true: set[Edge] = set()
    defined: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    for item in truth.definitions:
        own = {(place.path, place.line) for place in item.names}
        defined[item.path, item.qualified_name] |= own
        true |= {
            Edge(use.path, use.line, item.path, item.qualified_name)
            for use in item.uses
            if (use.path, use.line) not in own
        }
    return true, defined


if __name__ == "__main__":
    sys.exit(main())
