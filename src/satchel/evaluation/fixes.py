"""Which commits are fixes, and what would somebody who makes them have to see?

A fix has one parent, says in its subject what went wrong or was put right, and changes a few lines of a few
source files. What has to be seen are the changed lines as they were in the parent, and for an insertion the
lines before and after it. Blank lines show nothing, and imports are written without a look at the others:
neither is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from satchel import languages
from satchel.evaluation.cases import Case, Gold, LeftOutReason
from satchel.evaluation.history import (
    ID_DIGITS,
    Commit,
    CommitQuestion,
    CommitQuestions,
    is_housekeeping,
    word_count,
)
from satchel.lines import split_lines
from satchel.retrieval.dependencies import import_statements
from satchel.retrieval.references import CODE_KINDS
from satchel.storage.protocol import Snapshot
from satchel.types import ChunkKind, Label, Reference, Symbol
from satchel.walking import git_diff
from satchel.walking.file_kinds import path_tags
from satchel.walking.git_diff import Hunk, has_same_lines

MOST_SOURCES = 5  # changed source files; more are a rework
MOST_LINES = 80  # changed lines of source files, old and new ones; more are a rework
_LOOKED_AT = 60  # commits per wanted fix before giving up: in some histories one in thirty is a fix
_LEAST_WORDS = 3  # beyond "fix" and its like
_ASIDE = frozenset({"test", "docs", "example", "ci", "dependency"})  # tags of paths that are no product code

_REPAIRS = r"fix(?:e[sd]|ing)?|bug(?:s|fix\w*)?|hotfix|issues?|close[sd]?|resolve[sd]?|repair(?:s|ed)?|patch"
_REPAIR = re.compile(rf"\b(?:{_REPAIRS})\b", re.IGNORECASE)
_SYMPTOM = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|hotfix|bug(?:s|fix\w*)?|repair(?:s|ed)?|regress(?:ion|ed)|crash(?:e[sd]|ing)?"
    r"|wrong(?:ly)?|incorrect(?:ly)?|invalid(?:ly)?|broken|leak(?:s|ed|ing)?|deadlocks?|hangs?|hanging|panics?"
    r"|segfaults?|overflows?|infinite|fail(?:s|ed|ing)?\s+to|(?:does|do|did|is|are|was|were|should|would)(?:n't|\s+not)"
    r"|cannot|can't|properly|correctly|prevents?|avoids?|no longer|use[- ]after[- ]free|null pointer)\b",
    re.IGNORECASE,
)
_OTHER_KIND = re.compile(
    r"(?:feat(?:ure)?|docs?|chore|style|refactor|tests?|build|ci|deps|release|bench|revert|wip)\b(?:\([^)]*\))?!?:"
    r"|(?:bump|release|merge|revert|update (?:dep|chang)|upgrade|add|implement|introduce|support|refactor)\b",
    re.IGNORECASE,
)
# Repairs of everything but behaviour: "fix the failing tests", "Fix typo", "fixed some clippy warnings".
_CHORE = re.compile(
    r"\btypos?\b|\bspelling\b|\bcodespell\b|\bmisspell\w*|\bbump(?:s|ed)?\b|\bgo fix\b"
    r"|\b(?:fix(?:e[sd]|ing)?|repair(?:s|ed)?|broken|avoid|prevent)(?:\([^)]*\))?:?(?:\s+[\w'-]+){0,2}?\s+"
    r"(?:lint(?:s|er|ing)?|clippy|flake8|rubocop|eslint|mypy|phpstan|psalm|warnings?|comments?|docs?"
    r"|docblocks?|documentation|docstrings?|readme|changelog|tests?|test suite|unit tests?|ci|travis|builds?"
    r"|workflows?|compil(?:e|ation|er)|indent(?:ation)?|whitespace|code style|style|coding standards?|links?"
    r"|urls?|examples?)\b",
    re.IGNORECASE,
)

Line = tuple[str, int]
"""A path, and the number of one of its lines."""


class Fix(NamedTuple):
    """A commit that is a fix as far as its message and its diff say; its parent's index has the last word."""

    commit: Commit
    question: str
    hunks: Mapping[str, Sequence[Hunk]]  # of the changed source files, by their paths in the parent

    @property
    def parent(self) -> str:
        """Return the id of the commit's parent."""
        return self.commit.parents[0]


class ChangedDefinition(NamedTuple):
    """A definition of the parent that a fix changes, and which of its lines have to be seen."""

    path: str
    name: str
    lines: frozenset[Line]


class Task(NamedTuple):
    """A fix to be made: the question, the lines that have to be seen, and the definitions they are in."""

    case: Case
    lines: frozenset[Line]
    definitions: tuple[ChangedDefinition, ...]


class FixCommits:
    """The fixes in the history of a repository, newest first. `history` counts what was left out, and why."""

    def __init__(self, root: Path, wanted: int) -> None:
        self.history = CommitQuestions(root, wanted, screen_message, looked_at=_LOOKED_AT)

    def candidates(self) -> Iterator[Fix]:
        """Yield the commits that are fixes by their message and their diff."""
        for candidate in self.history.candidates():
            found = self._fix(candidate)
            if isinstance(found, Fix):
                yield found
            else:
                self.history.leave_out(candidate.commit, found)

    def task(self, fix: Fix, snapshot: Snapshot) -> Task | LeftOutReason:
        """Return what a fix asks for, given the index of its parent, or the reason why it is no task."""
        lines: set[Line] = set()
        changed: dict[tuple[str, Symbol], set[Line]] = {}
        found_languages = []
        for path, hunks in sorted(fix.hunks.items()):
            record = snapshot.file(path)
            if record is None:
                continue
            text = snapshot.text(path)
            if not has_same_lines(text, record.encoding):
                return LeftOutReason.NOTHING_INDEXED
            found_languages.append(record.language)
            file = ParentFile(split_lines(text), snapshot.references(path), snapshot.symbols(path))
            for hunk in hunks:
                lines.update((path, line) for line in file.lines_to_see(hunk))
                for symbol, inside in file.changed(hunk):
                    changed.setdefault((path, symbol), set()).update((path, line) for line in inside)
        if not found_languages:
            return LeftOutReason.NOTHING_INDEXED
        if not changed:
            return LeftOutReason.NO_DEFINITION
        definitions = tuple(
            ChangedDefinition(path, symbol.qualified_name, frozenset(inside))
            for (path, symbol), inside in changed.items()
        )
        language = min(found_languages, key=lambda name: (-found_languages.count(name), name))
        return Task(_case(fix, lines, language), frozenset(lines), definitions)

    def _fix(self, candidate: CommitQuestion) -> Fix | LeftOutReason:
        """Return a commit as a fix, or the reason why it is none."""
        # Copies of a file that are changed alike have the same blobs.
        sources: dict[tuple[str, str], list[str]] = {}
        for change in candidate.changes:
            if is_source(change.old_path):
                sources.setdefault((change.old_blob, change.new_blob), []).append(change.old_path)
        if not sources:
            return LeftOutReason.NO_SOURCE
        if sum(map(len, sources.values())) > MOST_SOURCES:
            return LeftOutReason.TOO_MANY_FILES
        sides = git_diff.compare_commits(candidate.parent, candidate.commit.id)
        hunks = {
            path: block.hunks
            for block in git_diff.read_hunks(self.history.root, sides)
            if block.hunks
            for path in sources.get((block.old_blob, block.new_blob), ())
        }
        changed = sum(hunk.old_count + hunk.new_count for found in hunks.values() for hunk in found)
        if changed > MOST_LINES:
            return LeftOutReason.TOO_MANY_LINES
        return Fix(candidate.commit, candidate.question, hunks) if hunks else LeftOutReason.NO_SOURCE


def screen_message(question: str) -> LeftOutReason | None:
    """Return why a message does not describe a fix; None if it does."""
    subject = question.split("\n", 1)[0]
    if is_other_work(subject) or not _SYMPTOM.search(subject):
        return LeftOutReason.NO_FIX
    return LeftOutReason.FEW_WORDS if word_count(_REPAIR.sub(" ", question)) < _LEAST_WORDS else None


def is_other_work(subject: str) -> bool:
    """Return whether a subject announces a feature, a release, or a repair of anything but behaviour."""
    return bool(_OTHER_KIND.match(subject) or _CHORE.search(subject))


def is_source(path: str) -> bool:
    """Return whether a file by its path is code of the product: no test, document, setting or lock file."""
    if is_housekeeping(path) or _ASIDE.intersection(path_tags(path, "")):
        return False
    return languages.get(languages.detect(path)).module_kind is ChunkKind.MODULE


class ParentFile:
    """A file of the parent: which of its lines a hunk asks for, and which definitions it changes."""

    def __init__(
        self, lines: Sequence[str], references: Sequence[Reference], symbols: Sequence[Symbol]
    ) -> None:
        self._lines = lines
        self._imports = _import_lines(references, lines)
        self._symbols = [symbol for symbol in symbols if symbol.kind in CODE_KINDS]

    def lines_to_see(self, hunk: Hunk) -> list[int]:
        """Return the changed lines with text, or the nearest lines with text around where something is
        inserted; no imports, and nothing of what is inserted beside one."""
        changed = self._with_text(hunk)
        if changed:
            return [line for line in changed if line not in self._imports]
        neighbours = self._neighbours(hunk)
        return neighbours if self._imports.isdisjoint(neighbours) else []

    def changed(self, hunk: Hunk) -> Iterator[tuple[Symbol, list[int]]]:
        """Yield the innermost definitions that a hunk changes, each with the lines to see in it. An insertion
        changes the definition that holds both its neighbours."""
        lines = self.lines_to_see(hunk)
        inserted = not self._with_text(hunk)
        groups = [lines] if inserted else [[line] for line in lines]
        for group in groups:
            if len(group) == 1 + inserted and (symbol := self._innermost(group[0], group[-1])) is not None:
                yield symbol, group

    def _innermost(self, first: int, last: int) -> Symbol | None:
        holding = [item for item in self._symbols if item.start_line <= first and last <= item.end_line]
        return min(holding, key=lambda item: item.end_line - item.start_line, default=None)

    def _with_text(self, hunk: Hunk) -> list[int]:
        last = min(hunk.old_line + hunk.old_count - 1, len(self._lines))
        return [line for line in range(hunk.old_line, last + 1) if self._has_text(line)]

    def _neighbours(self, hunk: Hunk) -> list[int]:
        above = hunk.old_line - 1 if hunk.old_count else hunk.old_line
        below = hunk.old_line + max(hunk.old_count, 1)
        before = next((line for line in range(above, 0, -1) if self._has_text(line)), 0)
        after = next((line for line in range(below, len(self._lines) + 1) if self._has_text(line)), 0)
        return [line for line in (before, after) if line]

    def _has_text(self, line: int) -> bool:
        return bool(self._lines[line - 1].strip())


def _import_lines(references: Sequence[Reference], lines: Sequence[str]) -> set[int]:
    """Return the lines of all import statements of a file."""
    imports = [use for use in references if use.label is Label.IMPORTS and use.line <= len(lines)]
    found: set[int] = set()
    for use, statement in zip(imports, import_statements(imports, lines), strict=True):
        height = statement.text.count("\n") + 1
        for above in range(max(0, use.line - height), use.line):
            if "".join(lines[above : above + height]).strip() == statement.text:
                found.update(range(above + 1, above + height + 1))
    return found


def _case(fix: Fix, lines: set[Line], language: str) -> Case:
    """Return a task as a question with its gold, for scores that are saved and compared."""
    gold = []
    ordered = enumerate(sorted(lines))
    for (path, _), run in groupby(ordered, key=lambda item: (item[1][0], item[1][1] - item[0])):
        numbers = [line for _, (_, line) in run]
        gold.append(Gold(path, numbers[0], numbers[-1]))
    return Case(
        fix.commit.id[:ID_DIGITS],
        fix.question,
        tuple(gold),
        set="tasks",
        category="code",
        language=language,
        commit=fix.parent,
    )
