"""Decide whether an ignore file leaves a path out.

`ignore_patterns` translates single lines; all lines of a folder are matched at once. Paths are asked top
down, each for itself. A path below an ignored folder is never asked, so a pattern that matches a path only
through its folder does not count again there: `!keep/` in a deeper file would otherwise undo `*.o` above it,
unlike in git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from satchel.globs import LONGEST_PATTERN, PatternSet
from satchel.plugins import late
from satchel.walking.file_filter import printable

if TYPE_CHECKING:
    from satchel.walking import ignore_patterns
else:  # most trees have no ignore file that is read here
    ignore_patterns = late("satchel.walking.ignore_patterns")

GIT_NAMES = (".gitignore",)
OWN_NAMES = (".ignore", ".satchelignore")  # later files win over earlier ones in the same folder
MAX_IGNORE_BYTES = 1 << 20  # git reads larger files, but nobody writes them
# The characters of all lines with wildcards that apply to one path, in all folders above it. The
# largest collections of patterns reach half of this. At the limit the worst path takes 60 ms (measured).
MOST_WILD_CHARS = 32_768

_WILDCARDS = frozenset("*?[")

LoadFile = Callable[[str, str], bytes | None]
"""(folder, name) → the bytes of that ignore file, None if there is none."""
MakeRules = Callable[..., "IgnoreRules"]


class _FolderPatterns:
    """The patterns of the ignore files of one folder. `room` is how many characters its lines with wildcards
    may have."""

    def __init__(self, lines: Sequence[str], room: int) -> None:
        self.wild_chars = 0
        self.unusable_lines: dict[str, int] = {}  # how many lines cannot be used, by reason
        expressions = []
        self._ignored: list[bool] = []
        for line in lines:
            if (found := self._read(line, room)) is not None:
                expressions.append(found[0])
                self._ignored.append(found[1])
        self._automaton = PatternSet(expressions, bytewise=True)
        for _ in self._automaton.unusable:
            self._note_unusable("that cannot be compiled")

    def decide(self, entry: bytes) -> bool | None:
        """Return True if the patterns ignore an entry, False if they include it again, None if no pattern
        matches."""
        last = self._automaton.last(entry)
        return self._ignored[last] if last >= 0 else None

    def _read(self, line: str, room: int) -> tuple[bytes, bool] | None:
        """Return the expression of a line and whether it ignores what it matches; None if the line cannot be
        used."""
        if len(line) > LONGEST_PATTERN:
            self._note_unusable(f"of more than {LONGEST_PATTERN} characters")
            return None
        if not _WILDCARDS.isdisjoint(line):
            if self.wild_chars + len(line) > room:
                self._note_unusable(f"beyond {MOST_WILD_CHARS} characters of patterns with wildcards")
                return None
            self.wild_chars += len(line)
        return ignore_patterns.expression(line)

    def _note_unusable(self, why: str) -> None:
        self.unusable_lines[why] = self.unusable_lines.get(why, 0) + 1


class IgnoreRules:
    """The ignore files of one family (such as `.gitignore`) in a tree. Deeper files win over files above
    them, and every file wins over `root_patterns`."""

    def __init__(self, names: tuple[str, ...], load: LoadFile, root_patterns: Sequence[str] = ()) -> None:
        self._names = names
        self._load = load
        self._root_patterns = list(root_patterns)
        self._chains: dict[str, tuple[tuple[int, _FolderPatterns], ...]] = {}
        self.notes: list[str] = []  # what was left out of the ignore files, for the user

    def applies(self, folder: str) -> bool:
        """Return whether any pattern could match an entry of a folder."""
        return bool(self._chains[folder] if folder in self._chains else self._chain(folder))

    def ignores(self, folder: str, entry: str) -> bool:
        """Return whether an entry is ignored. `entry` is its path from the root, with a slash at its end if
        it is a folder."""
        chain = self._chains.get(folder)
        if chain is None:
            chain = self._chain(folder)
        if not chain:
            return False
        name = entry.encode("utf-8", "surrogateescape")
        for start, patterns in chain:
            decided = patterns.decide(name[start:])
            if decided is not None:
                return decided
        return False

    def _chain(self, folder: str) -> tuple[tuple[int, _FolderPatterns], ...]:
        """Return the patterns that apply in a folder, the nearest first, each with the length of the path
        before its folder."""
        above: tuple[tuple[int, _FolderPatterns], ...] = ()
        if folder:
            parent = folder.rpartition("/")[0]
            above = self._chains[parent] if parent in self._chains else self._chain(parent)
        lines = [*(() if folder else self._root_patterns), *self._lines(folder)]
        own: tuple[tuple[int, _FolderPatterns], ...] = ()
        if lines:
            patterns = _FolderPatterns(lines, MOST_WILD_CHARS - sum(each.wild_chars for _, each in above))
            start = len(folder.encode("utf-8", "surrogateescape")) + 1 if folder else 0
            own = ((start, patterns),)
            for why, count in patterns.unusable_lines.items():
                self._note(folder, f"{count} pattern{'s' * (count > 1)} {why}")
        self._chains[folder] = own + above
        return own + above

    def _lines(self, folder: str) -> Iterator[str]:
        """Yield the patterns that the ignore files of a folder hold."""
        for name in self._names:
            data = self._load(folder, name)
            if data and len(data) > MAX_IGNORE_BYTES:
                self._note(folder, f"a {name} of more than {MAX_IGNORE_BYTES} bytes")
            yield from ignore_lines(data)

    def _note(self, folder: str, what: str) -> None:
        """Note what was left out of the ignore files of a folder."""
        place = f"{printable(folder)}/" if folder else "the root"
        said = " and ".join(self._names) or "the settings"
        self.notes.append(f"{said} in {place}: {what} left out")


class RecordingIgnoreRules(IgnoreRules):
    """Ignore rules that add every entry they ignore to the set `recorded`."""

    recorded: set[str]

    def ignores(self, folder: str, entry: str) -> bool:
        decided = super().ignores(folder, entry)
        if decided:
            self.recorded.add(entry)
        return decided

    @classmethod
    def recording(cls, recorded: set[str]) -> MakeRules:
        """Return a constructor of rules that share one set."""

        def make(names: tuple[str, ...], load: LoadFile, root_patterns: Sequence[str] = ()) -> IgnoreRules:
            rules = cls(names, load, root_patterns)
            rules.recorded = recorded
            return rules

        return make


def ignore_lines(data: bytes | None) -> list[str]:
    """Return the patterns in an ignore file as git reads them: without byte order mark, carriage returns and
    comments."""
    if not data or len(data) > MAX_IGNORE_BYTES:
        return []
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
