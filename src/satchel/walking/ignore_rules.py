"""Does an ignore file leave this path out?

What a line matches is said by `ignore_patterns`; all lines of a folder are asked at once. Paths are asked top
down and each entry is asked for itself: what is below an ignored folder is never asked, so a pattern that
reaches a path only through its folder must not count again there (`!keep/` in a deeper file would undo `*.o`
above it; git does not).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from satchel.globs import LONGEST_PATTERN, PatternSet
from satchel.plugins import late
from satchel.walking.file_filter import printable

if TYPE_CHECKING:
    from satchel.walking import ignore_patterns
else:  # most folders have no ignore file, most trees none that is read here
    ignore_patterns = late("satchel.walking.ignore_patterns")

GIT_NAMES = (".gitignore",)
OWN_NAMES = (".ignore", ".satchelignore")  # later files win over earlier ones in the same folder
MAX_IGNORE_BYTES = 1 << 20  # git reads larger ones; nobody writes them
# Of the lines with wildcards that are asked about one path, those of all folders above it together. The
# largest collections of patterns have half of it. With it the worst path takes 60 ms, measured.
MOST_WILD_CHARS = 32_768

_WILDCARDS = frozenset("*?[")

Load = Callable[[str, str], bytes | None]
"""(folder, name) → the bytes of that ignore file, None if there is none."""
MakeRules = Callable[..., "IgnoreRules"]


class _Patterns:
    """The patterns of one folder: True if they ignore an entry, False if they take it in again, None if
    silent. `room` is how many characters its lines with wildcards may have."""

    def __init__(self, lines: Sequence[str], room: int) -> None:
        self.wild_chars = 0
        self.left_out: dict[str, int] = {}  # numbers of lines by what was wrong with them
        expressions = []
        self._ignored: list[bool] = []
        for line in lines:
            if (found := self._read(line, room)) is not None:
                expressions.append(found[0])
                self._ignored.append(found[1])
        self._automaton = PatternSet(expressions, bytewise=True)
        for _ in self._automaton.unusable:
            self._leave_out("that cannot be compiled")

    def decide(self, entry: bytes) -> bool | None:
        last = self._automaton.last(entry)
        return self._ignored[last] if last >= 0 else None

    def _read(self, line: str, room: int) -> tuple[bytes, bool] | None:
        if len(line) > LONGEST_PATTERN:
            self._leave_out(f"of more than {LONGEST_PATTERN} characters")
            return None
        if not _WILDCARDS.isdisjoint(line):
            if self.wild_chars + len(line) > room:
                self._leave_out(f"beyond {MOST_WILD_CHARS} characters of patterns with wildcards")
                return None
            self.wild_chars += len(line)
        return ignore_patterns.expression(line)

    def _leave_out(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1


class IgnoreRules:
    """The ignore files of one family over a tree; deeper files win. `first` are patterns of the
    root that every file of the family wins over."""

    def __init__(self, names: tuple[str, ...], load: Load, first: Sequence[str] = ()) -> None:
        self._names = names
        self._load = load
        self._first = list(first)
        self._chains: dict[str, tuple[tuple[int, _Patterns], ...]] = {}
        self.notes: list[str] = []  # what was left out of ignore files

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
        name = entry.encode("utf-8", "surrogateescape")
        for start, patterns in chain:
            decided = patterns.decide(name[start:])
            if decided is not None:
                return decided
        return False

    def _chain(self, folder: str) -> tuple[tuple[int, _Patterns], ...]:
        above: tuple[tuple[int, _Patterns], ...] = ()
        if folder:
            parent = folder.rpartition("/")[0]
            above = self._chains[parent] if parent in self._chains else self._chain(parent)
        lines = [*(() if folder else self._first), *self._lines(folder)]
        own: tuple[tuple[int, _Patterns], ...] = ()
        if lines:
            patterns = _Patterns(lines, MOST_WILD_CHARS - sum(each.wild_chars for _, each in above))
            start = len(folder.encode("utf-8", "surrogateescape")) + 1 if folder else 0
            own = ((start, patterns),)
            for why, count in patterns.left_out.items():
                self._note(folder, f"{count} pattern{'s' * (count > 1)} {why}")
        self._chains[folder] = own + above
        return own + above

    def _lines(self, folder: str) -> Iterator[str]:
        for name in self._names:
            data = self._load(folder, name)
            if data and len(data) > MAX_IGNORE_BYTES:
                self._note(folder, f"a {name} of more than {MAX_IGNORE_BYTES} bytes")
            yield from ignore_lines(data)

    def _note(self, folder: str, what: str) -> None:
        place = f"{printable(folder)}/" if folder else "the root"
        said = " and ".join(self._names) or "the settings"
        self.notes.append(f"{said} in {place}: {what} left out")


class RecordingIgnoreRules(IgnoreRules):
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
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
