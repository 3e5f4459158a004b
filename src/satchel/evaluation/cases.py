"""Questions with known answers: the nouns of an evaluation, and the dataset files that hold them.

A dataset is JSON lines, one question each:

    {"query_id": "1", "query": "where is tax computed", "gold": [{"path": "shop/prices.py"}]}

(with optional `start_line` and `end_line` in gold, and `set`, `repo`, `source`, `commit`, `search_root`,
`category`, `language` beside them), or one object `{"cases": [{"id", "query", "expected_paths"}]}`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from satchel.errors import FileNotFound, InvalidRequest, PathNotAllowed
from satchel.walking.paths import check_relative, os_path

_NAMED = 60  # names listed in a hint
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Gold(NamedTuple):
    """Lines that a good answer shows; without lines, the whole file.

    The lines of one file are one target together, unless the entry has a `tier`: such an entry was chosen by
    hand, and only a result that overlaps its lines counts. Paths that are written by hand are often short, so
    with a `tier` or a `match` it is enough that one path is the end of the other.
    """

    path: str
    start_line: int = 0
    end_line: int = 0
    match: str = ""
    tier: str = ""

    def is_at(self, path: str) -> bool:
        """Return whether `path` is the file of this entry."""
        if not self.is_loose:
            return path == self.path
        name = f"/{self.name}"
        return f"/{path}".endswith(name) or name.endswith(f"/{path}")

    @property
    def name(self) -> str:
        """Return the path as the dataset spells it."""
        return self.match or self.path

    @property
    def is_loose(self) -> bool:
        """Return whether the path may be written short: the end of the real path is enough."""
        return bool(self.match or self.tier)


class Case(NamedTuple):
    """One question with its gold, the known answer. `set`, `repo` and `id` together name it."""

    id: str
    query: str
    gold: tuple[Gold, ...]
    set: str = ""
    repo: str = ""
    category: str = ""
    language: str = ""
    commit: str = ""
    search_root: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what names the question in all datasets together."""
        return (self.set, self.repo, self.id)


class LeftOutReason(StrEnum):
    """Why a dataset row or a commit was not asked."""

    GOLD_ELSEWHERE = "gold_not_in_segment"
    INVALID_QUERY = "invalid_query"
    ROOT = "root_commit"
    MERGE = "merge"
    FEW_WORDS = "few_words"
    HOUSEKEEPING = "housekeeping"
    NOTHING_INDEXED = "nothing_indexed"
    TOO_MANY_FILES = "too_many_files"
    OBJECT_MISSING = "object_missing"
    NO_FIX = "no_fix"
    NO_SOURCE = "no_source"
    TOO_MANY_LINES = "too_many_lines"
    NO_DEFINITION = "no_definition"


class LeftOut(NamedTuple):
    """A dataset row or a commit that was not asked."""

    id: str
    reason: LeftOutReason
    detail: str = ""


class PathMapping(NamedTuple):
    """How paths of the segment become paths of the dataset: `prefix` is put before them, and only files below
    `within` are searched. Datasets name paths from the top of a repository; the segment may be that top, or
    the folder that the questions are about."""

    prefix: str = ""
    within: str = ""


class _GoldRow(msgspec.Struct):
    """A gold entry of a dataset row."""

    path: str
    start_line: int | None = None
    end_line: int | None = None
    match: str = ""
    tier: str = ""


class _DatasetQuestion(msgspec.Struct, kw_only=True):
    """What both forms of a dataset say of a question."""

    query: str
    category: str = ""
    language: str = ""


class _Row(_DatasetQuestion, kw_only=True):
    """A line of a dataset of JSON lines."""

    query_id: str | int
    gold: list[_GoldRow]
    set: str = ""
    repo: str = ""
    commit: str = ""
    search_root: str = ""


class _CompanionCase(_DatasetQuestion, kw_only=True):
    """A question of the one-object form."""

    id: str | int
    expected_paths: list[str]


class _Companion(msgspec.Struct):
    """A dataset in the one-object form."""

    cases: list[_CompanionCase]


def read_dataset(path: Path) -> list[Case]:
    """Return the questions of a dataset file, in its order."""
    try:
        data = path.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    except OSError as error:
        raise FileNotFound(
            f"the dataset {str(path)!r} cannot be read: {error.strerror}",
            hint="give a JSON lines file, or --history N to take questions from the commits",
        ) from error
    cases = _companion(data) or [_case(number, line) for number, line in _lines(data)]
    if not cases:
        raise InvalidRequest(f"{path.name} holds no question", hint=_FORMS)
    _refuse_copies(cases)
    return cases


def choose(cases: list[Case], *, repo: str, set_name: str) -> list[Case]:
    """Return the cases of one repository and one set; an empty name takes all."""
    for field, wanted in (("repo", repo), ("set", set_name)):
        known = sorted({getattr(case, field) for case in cases} - {""})
        if wanted and wanted not in known:
            names = ", ".join(known[:_NAMED]) or "none"
            raise InvalidRequest(f"the dataset has no {field} {wanted!r}", hint=f"it has: {names}")
        cases = [case for case in cases if not wanted or getattr(case, field) == wanted]
    return cases


def map_paths(root: Path, cases: Sequence[Case]) -> dict[str, PathMapping]:
    """Return for each search root of the cases the mapping under which more of their gold files exist."""
    found = {}
    for search_root in sorted({case.search_root for case in cases}):
        paths = {gold.path for case in cases if case.search_root == search_root for gold in case.gold}
        at_top = PathMapping(within=search_root)
        inside = PathMapping(prefix=f"{search_root}/") if search_root else at_top
        found[search_root] = max((at_top, inside), key=lambda mapping: _count_here(root, mapping, paths))
    return found


def is_here(root: Path, mapping: PathMapping, path: str) -> bool:
    """Return whether the segment has the file `path` of the dataset, indexed or not."""
    try:
        relative = check_relative(path.removeprefix(mapping.prefix))
    except PathNotAllowed:
        return False
    return path.startswith(mapping.prefix) and os.path.isfile(os_path(root, relative))


def is_indexed(indexed: Set[str], mapping: PathMapping, gold: Gold) -> bool:
    """Return whether a search can find the gold file: the index holds it."""
    if gold.path.startswith(mapping.prefix) and gold.path.removeprefix(mapping.prefix) in indexed:
        return True
    return gold.is_loose and any(gold.is_at(mapping.prefix + path) for path in indexed)


def _count_here(root: Path, mapping: PathMapping, paths: Iterable[str]) -> int:
    return sum(is_here(root, mapping, path) for path in paths)


def clean_path(path: str) -> str:
    """Return a path as search results spell it."""
    return path.replace("\\", "/").removeprefix("./")


def _companion(data: bytes) -> list[Case]:
    """Return the cases of the one-object form; nothing if the file has the other form."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    if not isinstance(found, dict) or "cases" not in found:
        return []
    try:
        rows = msgspec.convert(found, _Companion).cases
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"the cases do not have their form: {error}", hint=_FORMS) from error
    return [
        Case(
            str(row.id),
            row.query,
            tuple(Gold(clean_path(path)) for path in row.expected_paths),
            category=row.category,
            language=row.language,
        )
        for row in rows
    ]


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    return [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]


def _case(number: int, line: bytes) -> Case:
    """Parse one line of a dataset."""
    try:
        row = msgspec.json.decode(line, type=_Row)
        gold = tuple(_gold(item) for item in row.gold)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"line {number} is not a question: {error}", hint=_FORMS) from error
    return Case(
        str(row.query_id),
        row.query,
        gold,
        row.set,
        row.repo,
        row.category,
        row.language,
        row.commit,
        row.search_root.strip("/"),
    )


def _gold(row: _GoldRow) -> Gold:
    """Return a gold entry with checked lines."""
    first = row.start_line or 0
    last = row.end_line or first
    if first < 0 or last < first or (last and not first):
        raise ValueError(f"lines {row.start_line} to {row.end_line} of {row.path!r} are no span")
    return Gold(clean_path(row.path), first, last, clean_path(row.match), row.tier)


def _refuse_copies(cases: list[Case]) -> None:
    """Raise a typed error for a question that is there twice or has no gold."""
    seen = set()
    for case in cases:
        if case.key in seen or not case.gold:
            what = "twice" if case.key in seen else "without gold"
            raise InvalidRequest(f"the question {case.id!r} is there {what}", hint=_FORMS)
        seen.add(case.key)


_FORMS = (
    'one {"query_id", "query", "gold": [{"path", "start_line"?, "end_line"?}]} per line, or one object'
    ' {"cases": [{"id", "query", "expected_paths"}]}'
)
