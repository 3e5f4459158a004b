"""The history of a repository → its fixes: what each reports, and which definitions of the parent it changes.

Everything is read from git objects, many commits with one command: a repository of 400 fixes takes seconds.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "embedding"))

from exclusion import content_is_forbidden
from fix_messages import Report, read_report

from satchel import languages
from satchel.chunking.parse_limits import could_stall
from satchel.chunking.syntax import parse_here
from satchel.evaluation.fixes import ParentFile, is_source
from satchel.lines import split_lines
from satchel.types import Label, LineRange, Reference, Symbol
from satchel.walking import git, git_diff
from satchel.walking.file_kinds import generated_reason, minified_reason
from satchel.walking.git_command import GitUnusable, run_git
from satchel.walking.git_diff import Hunk, has_same_lines

LOOKED_AT = 80_000  # commits, the newest of a repository
RECENT = 8 * 365 * 86_400  # seconds before the newest commit; older fixes are asked last
PAGE = 80  # commits that git compares at once
MOST_FILES = 4  # of source
MOST_CHANGES = 30  # files in a commit; more are a sweep
MOST_LINES = 120  # changed lines of source, old and new ones; more are a rework
MOST_BYTES = 250_000  # of a source file
LARGE_BYTES = 60_000  # of a source file; whether a smaller one could stall the parser is looked at
_NO_BLOB = "0" * 40
_COMMIT = re.compile(r"[0-9a-f]{40}")
_COPIED = re.compile(
    r"(?:^|/)(?:vendor|vendored|_vendor|third[-_]?party|3rdparty|node_modules|bower_components|deps|bundled"
    r"|extern|externals?|dist|generated)/",
    re.IGNORECASE,
)
# folders of tests that the tags of paths do not know (`IntegrationTests`, `Shop.Tests`), and hidden folders
_ASIDE = re.compile(r"(?:^|/)(?:\w*[a-z]Tests?|[\w.-]+[._-][Tt]ests?|\.[\w-]+)/")
_IMPORT = re.compile(
    r"\s*(?:import|from\s+\S+\s+import|#\s*include|use|using|require(?:_relative|_once)?|package|alias)\b"
)
_DIFF = ("diff-tree", "--stdin", "-r", "-M", "-l200", "--no-ext-diff", "--no-textconv", "--no-color")


class FixCommit(NamedTuple):
    """A commit that reports a fault by its message."""

    id: str
    parent: str
    time: int
    report: Report


class SourceDiff(NamedTuple):
    """The source files that a commit changes, by path: their bytes in the parent, and the changed lines."""

    commit: FixCommit
    files: Mapping[str, tuple[bytes | None, Sequence[Hunk]]]


class Definition(NamedTuple):
    """A definition as the parent has it. `changed` are the lines of it that the fix changes."""

    path: str
    symbol: Symbol
    changed: tuple[int, ...] = ()


class SourceFile(NamedTuple):
    """A file of the parent, with its symbols."""

    path: str
    language: str
    lines: Sequence[str]
    parent: ParentFile
    symbols: Sequence[Symbol]


class Fix(NamedTuple):
    """A fix: the files of the parent that it changes, where, and which definitions."""

    commit: FixCommit
    files: tuple[SourceFile, ...]
    gold: tuple[tuple[str, LineRange], ...]
    definitions: tuple[Definition, ...]


def fixes_of(root: Path, wanted: int) -> list[Fix]:
    """Return up to `wanted` fixes of a repository, spread over its recent years; the first ones are spread,
    too."""
    commits = spread(reported(root))
    pages = (commits[start : start + PAGE] for start in range(0, len(commits), PAGE))
    fixes = (fix for page in pages for diff in diffs_of(root, page) if (fix := fix_of(diff)) is not None)
    return list(islice(fixes, wanted))


def reported(root: Path) -> tuple[list[FixCommit], list[FixCommit]]:
    """Return the commits that report a fault, the recent and the older ones, each oldest first. Of equal
    reports one is kept."""
    form = "--format=%H%n%P%n%ct%n%B%x00"
    asked = ["rev-list", "--no-merges", "--no-commit-header", f"--max-count={LOOKED_AT}", form, "HEAD"]
    said = run_git(root, asked, timeout=300).decode("utf-8", "replace")
    by_text: dict[str, FixCommit] = {}
    newest = 0
    for record in said.split("\0"):
        commit, parents, time, message = [*record.lstrip("\n").split("\n", 3), "", "", ""][:4]
        if len(parents) != 40:  # no parent: the first commit, or the edge of a shallow clone
            continue
        newest = newest or int(time)
        report = read_report(message)
        if report is not None:
            by_text.setdefault(report.text, FixCommit(commit, parents, int(time), report))
    commits = sorted(by_text.values(), key=lambda each: (each.time, each.id))
    recent = [each for each in commits if each.time >= newest - RECENT]
    return recent, [each for each in commits if each.time < newest - RECENT]


def spread(commits: tuple[list[FixCommit], list[FixCommit]]) -> list[FixCommit]:
    """Return commits so that every beginning lies evenly over the time, the recent ones first."""
    return [group[number] for group in commits for number in spread_numbers(len(group))]


def spread_numbers(count: int) -> list[int]:
    """Return the numbers below `count` by their reversed bits: 0, 4, 2, 6, 1, 5, 3, 7."""
    bits = max(1, (count - 1).bit_length())
    reversed_bits = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(1 << bits))
    return [number for number in reversed_bits if number < count]


def diffs_of(root: Path, commits: Sequence[FixCommit]) -> list[SourceDiff]:
    """Return the commits that change a few lines of a few source files; asked one by one if git fails at them
    together, as it does for an object that is not in this clone."""
    try:
        return list(_diffs_of(root, commits))
    except GitUnusable:
        if len(commits) == 1:
            return []
        return [diff for commit in commits for diff in diffs_of(root, [commit])]


def _diffs_of(root: Path, commits: Sequence[FixCommit]) -> Iterator[SourceDiff]:
    changed = {each: found for each, found in changed_sources(root, commits).items() if found}
    listed = "".join(f"{each}\n" for each in changed).encode()
    options = ("-p", "-U0", "--full-index", "--text", "--indent-heuristic", "--diff-algorithm=myers")
    patch = run_git(root, [*_DIFF, *options], stdin=listed) if changed else b""
    hunks = {(block.old_blob, block.new_blob): block.hunks for block in git_diff.parse_hunks(patch)}
    small = [
        commit
        for commit in commits
        if commit.id in changed and _is_small([hunks.get(pair, []) for pair in changed[commit.id].values()])
    ]
    blobs = dict(
        git.read_blobs(root, sorted({old for each in small for old, _ in changed[each.id].values()}))
    )
    for commit in small:
        pairs = changed[commit.id].items()
        yield SourceDiff(commit, {path: (blobs.get(pair[0]), hunks[pair]) for path, pair in pairs})


def changed_sources(root: Path, commits: Sequence[FixCommit]) -> dict[str, dict[str, tuple[str, str]]]:
    """Return by commit the source files it changes, each with its old and new blob; none for a commit that
    moves or deletes source, or changes too many files."""
    listed = "".join(f"{each.id}\n" for each in commits).encode()
    said = run_git(root, [*_DIFF, "--raw", "-z", "--no-abbrev"], stdin=listed)
    fields = iter(said.decode("utf-8", "surrogateescape").split("\0")[:-1])
    found: dict[str, dict[str, tuple[str, str]]] = {}
    counts: dict[str, int] = {}
    commit = ""
    for field in fields:
        if not field.startswith(":"):
            commit = field
            continue
        _, new_mode, old, new, status = field.split(" ")
        path = next(fields)
        if status.startswith("R"):
            next(fields)
        counts[commit] = counts.get(commit, 0) + 1
        if new_mode in ("120000", "160000") or old == _NO_BLOB or not is_product(path):
            continue
        # A source that is gone has no lines to compare: it spoils the commit.
        found.setdefault(commit, {})[path] = (old, new if status == "M" else _NO_BLOB)
    return {
        commit: sources if _is_narrow(sources) and counts[commit] <= MOST_CHANGES else {}
        for commit, sources in found.items()
        if _COMMIT.fullmatch(commit)
    }


def is_product(path: str) -> bool:
    """Whether a path is source of the product: no test, no copy of somebody else's code."""
    return is_source(path) and not (_COPIED.search(path) or _ASIDE.search(path)) and path.isprintable()


def _is_narrow(sources: Mapping[str, tuple[str, str]]) -> bool:
    return len(sources) <= MOST_FILES and all(new != _NO_BLOB for _, new in sources.values())


def _is_small(hunks: Sequence[Sequence[Hunk]]) -> bool:
    count = sum(hunk.old_count + hunk.new_count for group in hunks for hunk in group)
    return all(hunks) and count <= MOST_LINES


def source_file(path: str, data: bytes | None) -> SourceFile | None:
    """Return a file with its symbols; None of one that is missing, large, generated or forbidden."""
    if data is None or len(data) > MOST_BYTES or b"\0" in data or content_is_forbidden(data):
        return None
    try:
        return _parsed_file(path, data)
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=256)  # a file is often changed by several fixes, and neighbours are read again
def _parsed_file(path: str, data: bytes) -> SourceFile | None:
    text = data.decode("utf-8-sig")
    language = languages.detect(path, text[:4_000])
    if generated_reason(path, text, language) or minified_reason(path, text, language):
        return None
    if not has_same_lines(text, "utf-8") or (len(data) < LARGE_BYTES and could_stall(data)):
        return None
    lines = split_lines(text)
    symbols = parse_here(text, language, with_facts=False).symbols if languages.get(language).grammar else ()
    imports = [
        Reference("", Label.IMPORTS, number) for number, line in enumerate(lines, 1) if _IMPORT.match(line)
    ]
    return SourceFile(path, language, lines, ParentFile(lines, imports, symbols), symbols)


def fix_of(diff: SourceDiff) -> Fix | None:
    """Return a commit as a fix; None if a file of it cannot be read, or no line has to be seen."""
    gold: list[tuple[str, LineRange]] = []
    files: list[SourceFile] = []
    changed: dict[tuple[str, Symbol], set[int]] = {}
    seen = 0
    for path, (data, hunks) in sorted(diff.files.items()):
        file = source_file(path, data)
        if file is None or not file.lines:
            return None
        files.append(file)
        for hunk in hunks:
            gold.append((path, git_diff.clip_range(hunk.old_range, len(file.lines))))
            seen += len(file.parent.lines_to_see(hunk))
            for symbol, lines in file.parent.changed(hunk):
                changed.setdefault((path, symbol), set()).update(lines)
    definitions = [
        Definition(path, symbol, tuple(sorted(lines))) for (path, symbol), lines in changed.items()
    ]
    return Fix(diff.commit, tuple(files), tuple(gold), tuple(definitions)) if seen else None
