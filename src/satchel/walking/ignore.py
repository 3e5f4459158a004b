"""Does an ignore file leave this path out?

The patterns are read by `pathspec`. Paths are asked top down and each entry is asked for itself: what
is below an ignored folder is never asked, so a pattern that reaches a path only through its folder
must not count again there (`!keep/` in a deeper file would undo `*.o` above it; git does not).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

GIT_NAMES = (".gitignore",)
OWN_NAMES = (".ignore", ".satchelignore")  # later files win over earlier ones in the same folder
MAX_IGNORE_BYTES = 1 << 20  # git reads larger ones; nobody writes them

_ANY_FOLDER = "(?P<ps_d>/)"  # the pattern `*/` as pathspec compiles it; its first match is no anchor

Load = Callable[[str, str], bytes | None]
"""(folder, name) → the bytes of that ignore file, None if there is none."""
MakeRules = Callable[..., "IgnoreRules"]


class _Patterns:
    """One ignore file: True if it ignores an entry, False if it takes it in again, None if silent."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.patterns = [pattern for line in lines if (pattern := _compile(line)) is not None]
        self._any = _automaton(self.patterns)

    def decide(self, entry: str) -> bool | None:
        try:
            if self._any.check_file(entry).include is None:  # one automaton over all patterns
                return None
        except UnicodeEncodeError:  # a name that is not UTF-8: the automaton cannot take it, the patterns can
            pass
        for pattern in reversed(self.patterns):
            if _matches_itself(pattern, entry):
                return pattern.include
        return None


def _automaton(patterns: list[GitIgnoreSpecPattern]) -> GitIgnoreSpec:
    import re2
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec(patterns)
    except re2.error:  # an odd set (`[a[:alpha:].!`) that Python's expressions take and re2 does not
        return GitIgnoreSpec(patterns, backend="simple")


def _compile(line: str) -> GitIgnoreSpecPattern | None:
    from pathspec.patterns.gitignore.base import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if line.endswith("/**/"):
        line = line.removesuffix("/") + "/*/"  # every folder inside; pathspec would take the folder itself
    try:
        pattern = GitIgnoreSpecPattern(line)
    except (GitIgnorePatternError, re.error):  # git takes such a line (`[z-a].txt`) as matching nothing
        return None
    return pattern if pattern.include is not None else None


def _matches_itself(pattern: GitIgnoreSpecPattern, entry: str) -> bool:
    assert pattern.regex is not None
    if pattern.regex.pattern == _ANY_FOLDER:
        return entry.endswith("/")
    found = pattern.regex.search(entry)
    if found is None:
        return False
    through_a_folder = found.groupdict().get("ps_d") is not None
    if not through_a_folder and pattern.regex.pattern.endswith("/"):
        return found.end() < len(entry)  # `logs/**` is what is inside of logs, not logs
    return found.end() == len(entry) or not through_a_folder


class IgnoreRules:
    """The ignore files of one family over a tree; deeper files win. `first` are patterns of the
    root that every file of the family wins over."""

    def __init__(self, names: tuple[str, ...], load: Load, first: Sequence[str] = ()) -> None:
        self._names = names
        self._load = load
        self._first = list(first)
        self._chains: dict[str, tuple[tuple[int, _Patterns], ...]] = {}

    def applies(self, folder: str) -> bool:
        """Whether any pattern could speak of what is in a folder."""
        return bool(self._chains[folder] if folder in self._chains else self._chain(folder))

    def ignores(self, folder: str, entry: str) -> bool:
        """`entry` is the path from the root, with a slash at its end if it is a folder."""
        chain = self._chains.get(folder)
        if chain is None:
            chain = self._chain(folder)
        if not chain:
            return False
        for start, patterns in chain:
            decided = patterns.decide(entry[start:])
            if decided is not None:
                return decided
        return False

    def _chain(self, folder: str) -> tuple[tuple[int, _Patterns], ...]:
        lines = [] if folder else list(self._first)
        for name in self._names:
            lines += ignore_lines(self._load(folder, name))
        above: tuple[tuple[int, _Patterns], ...] = ()
        if folder:
            parent = folder.rpartition("/")[0]
            above = self._chains[parent] if parent in self._chains else self._chain(parent)
        own = ((len(folder) + 1 if folder else 0, _Patterns(lines)),) if lines else ()
        self._chains[folder] = own + above
        return own + above


class NotingRules(IgnoreRules):
    """The same, for whoever asks what is left out: every entry that a rule speaks against is in `noted`."""

    noted: set[str]

    def ignores(self, folder: str, entry: str) -> bool:
        decided = super().ignores(folder, entry)
        if decided:
            self.noted.add(entry)
        return decided

    @classmethod
    def noting(cls, noted: set[str]) -> MakeRules:
        """Makes rules that share one note."""

        def make(names: tuple[str, ...], load: Load, first: Sequence[str] = ()) -> IgnoreRules:
            rules = cls(names, load, first)
            rules.noted = noted
            return rules

        return make


def ignore_lines(data: bytes | None) -> list[str]:
    """The patterns in an ignore file, without a byte order mark and carriage returns, as git reads them."""
    if not data or len(data) > MAX_IGNORE_BYTES:
        return []
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
