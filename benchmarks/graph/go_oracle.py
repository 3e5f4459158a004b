"""The truth about a Go repository: `go_oracle/main.go` runs go/types, this file reads what it says.

Limits: a call through an interface is a use of the interface's method alone. Libraries that are not
installed are taken for empty, so a method called on one of their values is not resolved.
"""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec

from graph.repositories import Lab, Repository
from graph.truth import Definition, Place, Truth, collect

_SOURCE = Path(__file__).with_suffix("")
_LIBRARIES = Path("/usr/share/gocode/src")  # where Debian's golang-*-dev packages lie


class _Name(msgspec.Struct):
    """The position of a defining identifier."""

    name: str
    place: Place


class _Use(msgspec.Struct):
    """A use, and the position of the name that it means."""

    place: Place
    target: Place


class _Answers(msgspec.Struct):
    """All that the program says of a repository."""

    files: list[str]
    names: list[_Name]
    uses: list[_Use]
    unresolved: list[_Name] | None
    errors: int
    missing: list[str] | None


def ask(lab: Lab, repository: Repository, definitions: Sequence[Definition], commit: str) -> Truth:
    """Return the truth about a Go repository."""
    said = _run(lab, lab.clone(repository))
    names: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for item in sorted(said.names, key=lambda item: item.place):
        names[item.place.path, item.name].append(item.place)
    uses: dict[Place, set[Place]] = defaultdict(set)
    for use in said.uses:
        uses[use.target].add(use.place)
    for definition in definitions:
        definition.take_names(names[definition.path, definition.name])
        definition.take_uses(use for place in definition.names for use in uses[place])
    truth = collect(repository, commit, said.files, definitions)
    sampled = {definition.name for definition in definitions if definition.sample}
    truth.undecided = sorted(item.place for item in said.unresolved or () if item.name in sampled)
    truth.notes = [f"{said.errors} type errors", *(f"not installed: {name}" for name in said.missing or ())]
    return truth


def _run(lab: Lab, clone: Path) -> _Answers:
    """Build the program if needed, and run it."""
    program = lab.tools / "go_oracle"
    go = lab.tools.resolve() / "venv" / "bin" / "go"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    build = [str(go), "build", "-o", str(program.resolve()), "."]
    subprocess.run(build, check=True, cwd=_SOURCE, env=environment)
    root = subprocess.run(
        [str(go), "env", "GOROOT"], check=True, capture_output=True, text=True, env=environment
    )
    run = [str(program), str(clone), str(_LIBRARIES)]
    environment["GOROOT"] = root.stdout.strip()
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE, env=environment)
    return msgspec.json.decode(done.stdout, type=_Answers)
