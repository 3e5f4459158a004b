"""Evaluations that are kept beside an index, so that quality can be looked at over time.

A run is a saved evaluation in a file of its own; the name of the file has the time and the name of the run.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import msgspec

from satchel.errors import FileNotFound, InvalidRequest
from satchel.evaluation import saved
from satchel.evaluation.saved import Saved

FOLDER = "evals"
_NAME = re.compile(r"[\w][\w.-]{0,59}")
_FILE = re.compile(r"(?P<at>\d{8}T\d{12}Z)-(?P<name>[\w][\w.-]{0,59})\.json")
_TIME = "%Y%m%dT%H%M%S%fZ"  # to the microsecond: two small runs fit into a second


class KeptRun(msgspec.Struct, frozen=True):
    """A run that was kept: its name, when it was kept, and its file."""

    name: str
    at: str
    file: Path


def keep_run(folder: Path, name: str, run: Saved, now: datetime) -> Path:
    """Write a run to the folder of kept runs; return its file."""
    check_name(name)
    target = folder / FOLDER / f"{now.strftime(_TIME)}-{name}.json"
    target.parent.mkdir(exist_ok=True)
    saved.write_text(target, msgspec.json.format(msgspec.json.encode(run), indent=1).decode() + "\n")
    return target


def check_name(name: str) -> None:
    """Raise InvalidRequest for a name that cannot be part of a file name everywhere."""
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name[:80]!r} is no name of a run", hint="use letters, digits, -, _ and ., 60 at most"
        )


def kept_runs(folder: Path | None) -> list[KeptRun]:
    """Return the runs that were kept, the oldest first."""
    files = sorted((folder / FOLDER).glob("*.json")) if folder is not None else []
    found = ((file, _FILE.fullmatch(file.name)) for file in files)
    return [KeptRun(match["name"], match["at"], file) for file, match in found if match]


def find_run(runs: list[KeptRun], name: str) -> KeptRun:
    """Return the newest run of a name; a time and a name, joined by `-`, names one exactly."""
    named = [run for run in runs if name in (run.name, f"{run.at}-{run.name}")]
    if not named:
        known = ", ".join(dict.fromkeys(run.name for run in runs)) or "none"
        raise FileNotFound(f"no run is called {name[:80]!r}", hint=f"kept: {known}")
    return named[-1]
