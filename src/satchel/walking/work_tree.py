"""The interface of a tree of files, and the tree on disk. `git_trees` has the trees of commits and staged
files, `subset_tree` a part of the tree on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from satchel.errors import ProjectNotFound, SatchelError
from satchel.plugins import late
from satchel.settings import INDEX_FOLDER, WalkOptions
from satchel.types import Skipped, SkipReason, Walk
from satchel.walking import git_inputs, stat_cache
from satchel.walking.own_output import is_index_folder, is_own_name, is_own_path, told_of
from satchel.walking.paths import check_relative, open_inside, os_path
from satchel.walking.tree_changes import TreeChanges

if TYPE_CHECKING:
    from satchel.storage.records import HistoryCommit
    from satchel.walking import file_filter, git, git_command, history, ignore_rules, listing, watermark
    from satchel.walking.file_filter import FileFilter
    from satchel.walking.ignore_rules import IgnoreRules, LoadFile
    from satchel.walking.listing import IsIgnored
else:  # loaded when a walk needs them: an unchanged folder needs none, a folder without git only some
    file_filter, git, git_command, history, ignore_rules, listing, watermark = (
        late(f"satchel.walking.{name}")
        for name in ("file_filter", "git", "git_command", "history", "ignore_rules", "listing", "watermark")
    )


WORK_TREE = "worktree"  # the ref of files on disk
_MOST_NAMED = 3  # files in a note


class SourceTree(Protocol):
    """The files of one segment, from wherever they are read."""

    @property
    def ref(self) -> str:
        """Return the ref that citations state: a commit, or the word for a tree that is not a commit."""

    @property
    def content_id(self) -> str:
        """Return an id of the content of a tree that never changes; empty for a tree that may change."""

    def entries(self) -> Walk:
        """Return every file that belongs and every file left out."""

    def entries_at(self, paths: Sequence[str]) -> Walk:
        """Return the same for some paths only. A path that does not exist is in neither list."""

    def read(self, path: str) -> bytes:
        """Return the bytes of one file. A typed error says if it is gone, not a regular file, or outside the
        root."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        """Yield the bytes of many files in the order asked for, or the reason why a file cannot be read."""

    def changes_since(self, file: Path, key: str, only: Sequence[str] | None = None) -> TreeChanges | None:
        """Return what changed since the walk whose stamps were saved in this file under this key; None if
        there are none, or if anything may have changed. A caller who knows that nothing else changed has
        `only` some files looked at."""

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        """Save the stamps and the watermark of the last walk for `changes_since`."""

    def take_watermark(self, walk: Walk | None = None) -> watermark.Watermark:
        """Return the present watermark. If `walk` is given, a folder without git is not walked again."""

    def head(self) -> str:
        """Return the commit that the files come from, as the last walk found it; empty if there is none."""

    def history(self, head: str) -> list[HistoryCommit]:
        """Return the last commits up to that one, newest first."""


class WorkTree:
    """The files on disk. In a git work tree git applies `.gitignore`; elsewhere the ignore files are read
    here."""

    ref = WORK_TREE
    content_id = ""

    def __init__(self, root: Path, options: WalkOptions | None = None) -> None:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", details={"root": str(root)})
        self.root = root
        self.options = options or WalkOptions()
        self._walked_ns = 0
        self._names: dict[str, set[str]] = {}  # in the folders that the last walk listed; none if git did
        self._git_paths: list[str] | None = None  # what git listed at the last walk
        # What git said of the tree and when, until stamps are saved.
        self._git_look: tuple[watermark.GitLook, int] | None = None
        self._head: str | None = None  # the commit at the last walk; None before the first walk
        self._unread: set[str] = set()  # ignore files that the last walk could not read

    def entries(self) -> Walk:
        return self._walk(ignore_rules.IgnoreRules)

    def ignored(self) -> list[Skipped]:
        """Return what ignore files leave out, a whole folder as one path, and what we wrote. A walk does not
        report these."""
        recorded: set[str] = set()
        self._walk(ignore_rules.RecordingIgnoreRules.recording(recorded))
        if in_repository(self.root):
            with suppress(git_command.GitUnusable):
                recorded.update(git.list_ignored(self.root))
        index_folder = self.options.index_folder
        paths = (path.rstrip("/") for path in recorded)
        ignored = [
            path for path in paths if not self._is_all_own(path) and not is_own_path(path, index_folder)
        ]
        found = [Skipped(file_filter.printable(path), SkipReason.IGNORED) for path in sorted(ignored)]
        for folder in sorted({INDEX_FOLDER, index_folder} - {""}):
            ours = told_of(folder, self._names_in(folder))
            found += [Skipped(path, SkipReason.GENERATED, detail) for path, detail in ours]
        return found

    def _is_all_own(self, folder: str) -> bool:
        """Return whether a folder is an index folder in which nothing is the user's."""
        own = is_index_folder(folder, self.options.index_folder)
        return own and all(map(is_own_name, self._names_in(folder)))

    def _names_in(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; none where it cannot be listed."""
        try:
            return sorted(os.listdir(self.root / folder))
        except OSError:
            return []

    def _walk(self, make_rules: ignore_rules.MakeRules) -> Walk:
        """Return the files that belong, listed by git if possible, otherwise by listing every folder."""
        self._walked_ns = time.time_ns()
        self._unread.clear()
        chosen = file_filter.FileFilter(self.options)
        names: dict[str, set[str]] = {}

        def load(folder: str, name: str) -> bytes | None:
            return self._load_ignore_file(folder, name) if name in names.get(folder, (name,)) else None

        own = own_ignore_rules(load, self.options, make_rules)
        notes: tuple[str, ...] = ()
        paths: list[str] | None = None
        repository = in_repository(self.root)
        self._head = ""
        if repository:
            try:
                place = git.locate_in_repository(self.root)
                paths = git.list_work_tree(self.root, place=place)
                self._head = place.head
            except git_command.GitUnusable as problem:
                notes = (f"{problem.message}; the folder was walked without git",)
        if paths is None:
            own = [make_rules(ignore_rules.GIT_NAMES, load, self._exclude_lines()), *own]
            listing.filter_folder_tree(self.root, own, chosen, names)
        else:
            listing.filter_git_paths(self.root, paths, ignored_by_any(own), chosen)
        self._names, self._git_paths = names, paths
        return sorted_walk(chosen, (*notes, *rule_notes(own), *_unread_note(self._unread)))

    def changes_since(self, file: Path, key: str, only: Sequence[str] | None = None) -> TreeChanges | None:
        since_ns = time.time_ns()
        known = stat_cache.load(file, self.cache_key(key))
        # Without git nothing was noted of a repository, which may have appeared since.
        if known is None or bool(known.git_program) != in_repository(self.root):
            return None
        if known.git_program and known.git_program != git_inputs.find_git_program():
            return None
        paths = None if only is None else [path.encode("utf-8", "surrogateescape") for path in only]
        found = stat_cache.find_changes(self.root, known, paths)
        return None if found is None else TreeChanges(self, known, found, since_ns)

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        # The notes of a walk are not saved, so a walk with notes is repeated.
        if walk.notes:
            return
        look, self._git_look = self._git_look, None
        looked_ns = self._walked_ns
        try:
            if self._git_paths is None:
                inputs = self._plain_inputs(walk)
            else:
                found, looked_ns = look or (self._look_with_git(), self._walked_ns)
                inputs = self._git_inputs(walk, found)
        except (OSError, git_command.GitUnusable):
            return
        since_ns = min(looked_ns, self._walked_ns)
        taken = stat_cache.capture(self.root, self.cache_key(key), walk, inputs, since_ns)
        if taken is not None:
            stat_cache.save(file, taken, self.root)

    def take_watermark(self, walk: Walk | None = None) -> watermark.Watermark:
        self._git_look = None
        if in_repository(self.root):
            started_ns = time.time_ns()
            with suppress(git_command.GitUnusable):
                self._git_look = (self._look_with_git(), started_ns)
                return self._git_look[0].watermark
        return watermark.from_files((walk or self.entries()).files)

    def _look_with_git(self) -> watermark.GitLook:
        return watermark.look_with_git(self.root, self.options.index_folder, ignored=True)

    def _plain_inputs(self, walk: Walk) -> stat_cache.WalkInputs:
        """Return what a walk without git depended on."""
        too_large = [item.path for item in walk.skipped if item.reason is SkipReason.TOO_LARGE]
        folders, index_folders = _listed_folders(self._names, self.options.index_folder)
        mark = watermark.as_values(watermark.from_files(walk.files))
        return stat_cache.WalkInputs(folders, index_folders, too_large, mark, _paths_of(self._names))

    def _git_inputs(self, walk: Walk, look: watermark.GitLook) -> stat_cache.WalkInputs:
        """Return everything that git's answers depend on, which are the paths of the last walk and `look`."""
        paths = self._git_paths or []
        # Rules of ours count in an ignored folder, too, as long as git tracks a file in it.
        ignored = {path.rstrip("/") for path in look.ignored} - listing.folders_above(paths)
        names = listing.names_below(self.root, ignored.union(path.rstrip("/") for path in paths))
        folders, index_folders = _listed_folders(names, self.options.index_folder)
        own = {entry.path for entry in walk.files}
        nested = [path for path in paths if path.endswith("/")]
        return stat_cache.WalkInputs(
            folders,
            index_folders,
            [path.rstrip("/") for path in paths if path not in own],
            watermark.as_values(look.watermark),
            _paths_of(names),
            git_inputs.find_git_program(),
            git_inputs.paths_that_decide(self.root, look.settings, nested),
            watermark.encode_answers(look.answers),
        )

    def head(self) -> str:
        if self._head is None:
            self.entries()
        return self._head or ""

    def history(self, head: str) -> list[HistoryCommit]:
        return history.read_history(self.root, head) if head else []

    def cache_key(self, key: str) -> bytes:
        """Return the key extended by everything else that a walk depends on: the folder, the user who may
        list it, and the variables that tell git where settings are."""
        user = os.geteuid() if hasattr(os, "geteuid") else ""
        outer = git_inputs.git_environment()
        parts = (stat_cache.VERSION, key, user, self.root, outer)
        return "\n".join(map(str, parts)).encode("utf-8", "surrogatepass")

    def entries_at(self, paths: Sequence[str]) -> Walk:
        wanted = sorted({check_relative(path) for path in paths} - {""})
        try:
            if in_repository(self.root):
                return self.entries_listed(git.list_work_tree(self.root, wanted))
        except git_command.GitUnusable as problem:
            found = self.entries_without_git(wanted)
            note = f"{problem.message}; the files were looked at without git"
            return Walk(found.files, found.skipped, (note, *found.notes))
        return self.entries_without_git(wanted)

    def entries_without_git(self, paths: Sequence[str]) -> Walk:
        """Return the files at some paths that belong by the ignore files that are read here."""
        names = ignore_rules.GIT_NAMES
        rules = ignore_rules.IgnoreRules(names, self._load_ignore_file, self._exclude_lines())
        return self.entries_listed(paths, rules)

    def entries_listed(self, paths: Sequence[str], *rules: IgnoreRules) -> Walk:
        """Return the files at some sorted paths that belong by these rules and by ours."""
        self._unread.clear()
        chosen = file_filter.FileFilter(self.options)
        every = [*rules, *own_ignore_rules(self._load_ignore_file, self.options)]
        listing.filter_git_paths(self.root, paths, ignored_by_any(every), chosen)
        return sorted_walk(chosen, (*rule_notes(every), *_unread_note(self._unread)))

    def _exclude_lines(self) -> list[str]:
        """Return the patterns of `.git/info/exclude`."""
        return ignore_rules.ignore_lines(self._load_ignore_file(".git/info", "exclude"))

    def read(self, path: str) -> bytes:
        return open_inside(self.root, path, self.options.max_file_bytes + 1)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        for path in paths:
            try:
                yield path, self.read(path)
            except SatchelError as error:
                yield path, Skipped(path, SkipReason.UNREADABLE, error.message)

    def _load_ignore_file(self, folder: str, name: str) -> bytes | None:
        """Return the bytes of an ignore file, None if there is none. A file that cannot be read is remembered
        for a note."""
        path = f"{folder}/{name}" if folder else name
        if not os.path.lexists(os_path(self.root, path)):
            return None
        try:
            return open_inside(self.root, path, ignore_rules.MAX_IGNORE_BYTES + 1)
        # A symlink or a folder of that name is not an ignore file, as in git.
        except SatchelError:
            if not os.path.isdir(os_path(self.root, path)):
                self._unread.add(path)
            return None


def own_ignore_rules(
    load: LoadFile, options: WalkOptions, make_rules: ignore_rules.MakeRules | None = None
) -> list[IgnoreRules]:
    """Return the rules of `.ignore` and `.satchelignore`. The caller's own patterns are separate rules, so
    that no file can include again what they ignore."""
    make_rules = make_rules or ignore_rules.IgnoreRules
    rules = [make_rules(ignore_rules.OWN_NAMES, load)]
    if options.extra_ignores:
        rules.append(make_rules((), load, options.extra_ignores))
    return rules


def rule_notes(rules: Sequence[IgnoreRules]) -> list[str]:
    """Return the notes on patterns that could not be used."""
    return [note for rule in rules for note in rule.notes]


def ignored_by_any(rules: Sequence[IgnoreRules]) -> IsIgnored:
    """Return a function that tells whether any of the rules ignores an entry. It is called for every file, so
    a single family of rules is called directly."""
    if len(rules) == 1:
        return rules[0].ignores
    return lambda folder, entry: any(rule.ignores(folder, entry) for rule in rules)


def in_repository(root: Path) -> bool:
    """Return whether the root or a folder above it has a `.git`. Checked before git runs, because starting
    git takes longer than walking a small folder."""
    return any(os.path.lexists(folder / ".git") for folder in (root.absolute(), *root.absolute().parents))


def _listed_folders(names: dict[str, set[str]], index_folder: str) -> tuple[list[str], dict[str, set[str]]]:
    """Return the folders that a walk listed with the rules of git and of ours in them, and the index folders
    with the names in them that are not ours."""
    rules = [
        f"{folder}/{name}" if folder else name
        for folder, found in names.items()
        for name in sorted(stat_cache.RULE_NAMES & found)
    ]
    kept = {
        folder: {name.removesuffix("/") for name in found}
        for folder, found in names.items()
        if is_index_folder(folder, index_folder)
    }
    others = {folder: {name for name in found if not is_own_name(name)} for folder, found in kept.items()}
    return [*(folder for folder in names if folder not in kept), *rules], others


def _paths_of(names: dict[str, set[str]]) -> list[str]:
    """Return the paths of all names in the listed folders."""
    return [
        f"{folder}/{name}" if folder else name for folder, found in names.items() for name in sorted(found)
    ]


def _unread_note(paths: set[str]) -> Iterator[str]:
    """Yield a note on ignore files that could not be read."""
    if paths:
        named = ", ".join(map(repr, sorted(paths)[:_MOST_NAMED])) + (" …" if len(paths) > _MOST_NAMED else "")
        yield f"rules were not read, because a link or no regular file holds them: {named}"


def sorted_walk(chosen: FileFilter, notes: tuple[str, ...]) -> Walk:
    """Return the result of a walk from a filter, sorted by path."""
    chosen.files.sort(key=attrgetter("path"))
    return Walk(chosen.files, chosen.sorted_skips(), notes)
