"""The truth about a TypeScript repository: `typescript_oracle.js` runs the compiler, this file reads it.

Limits: one program with the options of the root's tsconfig file; files that need another one (the examples
of a monorepo) may be resolved in part. `findReferences` counts a use of an interface's method as a use of
every method that implements it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from graph.repositories import Lab, Repository, listed_files
from graph.truth import Base, Definition, ImportEdge, Place, Truth, collect

_SCRIPT = Path(__file__).with_suffix(".js")
_MEMORY_MB = 8000


class _Answer(msgspec.Struct):
    """Where a definition's name stands, and the uses of it."""

    names: list[Place]
    uses: list[Place]
    direct: list[Place]


class _Answers(msgspec.Struct):
    """All that the script says; one answer for each definition, in the same order."""

    files: list[str]
    answers: list[_Answer]
    imports: list[ImportEdge]
    bases: list[Base]
    undecided: list[Place]


def ask(lab: Lab, repository: Repository, definitions: Sequence[Definition], commit: str) -> Truth:
    """Return the truth about a TypeScript repository."""
    clone = lab.clone(repository)
    request = {"files": listed_files(clone, repository.suffixes), "definitions": definitions}
    compiler = lab.tools / "node_modules" / "ts5"
    command = ["node", f"--max-old-space-size={_MEMORY_MB}", str(_SCRIPT), str(compiler), str(clone)]
    done = subprocess.run(command, input=msgspec.json.encode(request), check=True, stdout=subprocess.PIPE)
    said = msgspec.json.decode(done.stdout, type=_Answers)
    for definition, answer in zip(definitions, said.answers, strict=True):
        definition.names = sorted(set(answer.names))
        definition.take_uses(answer.uses)
        definition.direct = sorted(set(answer.direct).difference(answer.names))
    truth = collect(repository, commit, said.files, definitions)
    # The last one stays: the first line that means the edge, or else the first that implies it.
    ordered = sorted(said.imports, key=lambda edge: (not edge.implied, -edge.line))
    edges = {(edge.source, edge.target): edge for edge in ordered}
    truth.imports = [edges[key] for key in sorted(edges)]
    truth.bases = said.bases
    truth.undecided = said.undecided
    return truth
