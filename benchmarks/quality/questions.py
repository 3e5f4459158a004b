"""Which questions are asked, of which working copy, and where is its index?

A dataset is JSON lines as `satchel eval` takes them, each line with `source` ('owner/name') and `commit`
besides. The copy of a repository at a commit is the folder `owner__name@commit12` of `--copies`; of it only
`search_root` is indexed, in a folder of its own below `--index`, so that nothing is written into a copy.
Copies hold no git; `--mirror` names the folder of the git directories (`owner+name/repo`) that their history
is read from, up to the commit and never beyond it.

With `--clones` instead of `--copies` no working copy is needed: the folder holds a clone of each repository
(`git clone --shared --no-checkout MIRROR/owner+name/repo CLONES/owner__name`), which is asked at the commit
of the question, from git objects and with its history. What two commits share is parsed once.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from satchel.engine import Engine
from satchel.evaluation.cases import Case, read_dataset
from satchel.walking.history import read_history

SHORT = "semble"  # the set of short questions; questions of the other sets are issue reports
_COMMIT_DIGITS = 12  # of the name of a copy

Answer = TypeVar("Answer")


class Question(NamedTuple):
    """A case, and the repository that it is about: one name for it in all sets."""

    case: Case
    repository: str

    @property
    def prefix(self) -> str:
        """What stands before the paths of the index in those of the dataset."""
        return f"{self.case.search_root}/" if self.case.search_root else ""


class Group(NamedTuple):
    """The questions that one index answers."""

    copy: Path
    index_folder: Path
    git: Path | None
    questions: tuple[Question, ...]
    is_clone: bool = False  # `copy` is a clone that is asked at the commit

    def engines(self, profiles: Sequence[str], *, as_is: bool) -> list[Engine]:
        """An engine for each profile, the index up to date; with `as_is` it is taken as it is found."""
        question = self.questions[0]
        if self.is_clone:
            commit = question.case.commit
            options = {"index_dir": self.index_folder, "workers": 1}
            return [Engine.open(self.copy, profile=profile, **options).at(commit) for profile in profiles]
        root = self.copy / question.case.search_root
        engines = [
            Engine.open(root, index_dir=self.index_folder, workers=1, profile=profile) for profile in profiles
        ]
        if not as_is:
            engines[0].ensure_fresh()
        if self.git is not None:
            commits = read_history(self.git, question.case.commit, prefix=question.prefix)
            for engine in engines:
                engine.corpus().replace_history(commits)
        return engines


class _Source(msgspec.Struct):
    source: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What every script that asks questions takes."""
    parser.add_argument("--queries", type=Path, required=True, help="the dataset (JSON lines)")
    folders = parser.add_mutually_exclusive_group(required=True)
    folders.add_argument("--copies", type=Path, help="the folder of the working copies")
    folders.add_argument("--clones", type=Path, help="the folder of the clones, asked at their commits")
    parser.add_argument("--index", type=Path, required=True, help="where indexes are kept")
    parser.add_argument("--mirror", type=Path, help="the folder of the git directories (default: no history)")
    parser.add_argument("--set", action="append", default=[], help="only this set (repeatable)")
    parser.add_argument("--repo", action="append", default=[], help="only this owner/name (repeatable)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument(
        "--as-is", action="store_true", help="ask the indexes that are there, without a look at the files"
    )


def read_groups(options: argparse.Namespace) -> list[Group]:
    """The chosen questions by index, in an order that the dataset's does not change."""
    sources = [
        msgspec.json.decode(line, type=_Source).source
        for line in options.queries.read_bytes().split(b"\n")
        if line.strip()
    ]
    members: dict[tuple[str, str, str], list[Question]] = defaultdict(list)
    for case, source in zip(read_dataset(options.queries), sources, strict=True):
        question = Question(case, source.lower())
        if _is_wanted(question, options.set, options.repo):
            members[question.repository, case.commit, case.search_root].append(question)
    if options.clones:
        return _groups_of_clones(members, options)
    copies = _by_name(options.copies)
    mirrors = _by_name(options.mirror) if options.mirror else {}
    groups = []
    for repository, commit, search_root in sorted(members):
        copy = _found(copies, f"{repository.replace('/', '__')}@{commit[:_COMMIT_DIGITS]}")
        git = _found(mirrors, repository.replace("/", "+")) / "repo" if options.mirror else None
        part = f"~{search_root.replace('/', '~')}" if search_root else ""
        questions = tuple(members[repository, commit, search_root])
        groups.append(Group(copy, options.index / f"{copy.name}{part}", git, questions))
    return groups


def _groups_of_clones(
    members: Mapping[tuple[str, str, str], list[Question]], options: argparse.Namespace
) -> list[Group]:
    """The questions by commit. Those of a `search_root` need a working copy: a commit is asked as a whole."""
    clones = _by_name(options.clones)
    groups = []
    for repository, commit, search_root in sorted(members):
        if not search_root:
            clone = _found(clones, repository.replace("/", "__"))
            questions = tuple(members[repository, commit, search_root])
            groups.append(Group(clone, options.index / clone.name, None, questions, is_clone=True))
    return groups


def _is_wanted(question: Question, sets: Sequence[str], repositories: Sequence[str]) -> bool:
    return (not sets or question.case.set in sets) and (
        not repositories or question.repository in map(str.lower, repositories)
    )


def _by_name(folder: Path) -> dict[str, Path]:
    """The case of letters in names of repositories differs between datasets."""
    return {path.name.lower(): path for path in sorted(folder.iterdir())}


def _found(folders: dict[str, Path], name: str) -> Path:
    if name not in folders:
        raise SystemExit(f"there is no folder {name}: fetch it first")
    return folders[name]


def each(work: Callable[[Group], list[Answer]], groups: Sequence[Group], jobs: int) -> Iterator[Answer]:
    """What the work gives for each group, in their order, by so many processes."""
    if jobs < 2:
        for group in groups:
            yield from work(group)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for answers in pool.map(work, groups):
            yield from answers
