"""Which files and chunks a query may be answered from. Filters apply before the best are cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from satchel.globs import Matcher, any_glob, check_limits, glob, has_wildcard
from satchel.storage.records import FileRecord
from satchel.types import ChunkKind

_ACCEPTORS_KEPT = 16
_KINDS = frozenset(kind.value for kind in ChunkKind)

Acceptor = Callable[[FileRecord], bool]
FileTest = Callable[[str, str, Sequence[str], int], bool]
"""Returns whether a file may answer, by its path, its language, its tags and its count of chunks."""


class Filters(msgspec.Struct, frozen=True):
    """Conditions on files and chunks, which must all hold. Paths are relative to the root; an entry with `*`
    or `?` is a glob."""

    path_prefix: str = ""
    file_type: str = ""
    chunk_type: str = ""
    tags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    file_pattern: str = ""
    language: str = ""

    def active(self) -> list[str]:
        """Return the names of the filters that are set; a path that means everything is no filter."""
        idle = {
            "path_prefix": not clean(self.path_prefix),
            "file_pattern": not clean(self.file_pattern),
            "include_paths": not all(map(clean, self.include_paths)),
            "exclude_paths": not any(map(clean, self.exclude_paths)),
        }
        return [name for name in self.__struct_fields__ if getattr(self, name) and not idle.get(name)]

    def __post_init__(self) -> None:
        patterns = {
            "path_prefix": (self.path_prefix,),
            "include_paths": self.include_paths,
            "exclude_paths": self.exclude_paths,
            "file_pattern": (self.file_pattern,),
        }
        check_limits({name: entries for name, entries in patterns.items() if any(entries)})

    def accepts_file(self, record: FileRecord) -> bool:
        """Return whether a file may answer. To ask for many files use `acceptor`."""
        return _acceptor(self)(record)

    def acceptor(self) -> Acceptor:
        """Return the test that a file must pass, prepared for many files."""
        test = self.file_test()
        return lambda record: test(record.path, record.language, record.tags, record.chunk_count)

    def file_test(self) -> FileTest:
        """Return the same test of a file without its record, of which a library has no copies."""
        tests = list(self._path_tests())
        language, tags = self.language.lower(), [tag.lower() for tag in self.tags]
        whole_files = self.chunk_type == ChunkKind.FILE

        def accepts(path: str, own_language: str, own_tags: Sequence[str], chunk_count: int) -> bool:
            # This runs for every file of an index: a generator would take half as long again.
            for test in tests:
                if not test(path):
                    return False
            if language and own_language != language:
                return False
            if whole_files and chunk_count != 1:
                return False
            return not tags or all(
                tag in _KINDS or _is_tagged(path, own_language, own_tags, tag) for tag in tags
            )

        return accepts

    @property
    def by_kind(self) -> bool:
        """Return whether only the chunks of a file tell if the file may answer."""
        return bool(self._kind()) or any(tag.lower() in _KINDS for tag in self.tags)

    def accepts_chunk(self, record: FileRecord, kind: str) -> bool:
        """Return whether a chunk of this kind may answer, in a file that may."""
        if self._kind() not in ("", kind):
            return False
        own = record.path, record.language, record.tags
        return all(tag == kind or _is_tagged(*own, tag) for tag in map(str.lower, self.tags))

    def _kind(self) -> str:
        """Return the kind that chunks must have. `file` asks for no kind: files of one chunk pass."""
        return "" if self.chunk_type == ChunkKind.FILE else self.chunk_type

    def _path_tests(self) -> Iterator[Matcher]:
        """Yield a test of the path for each filter that is set."""
        if clean(self.path_prefix):
            yield any_under([self.path_prefix])
        if self.include_paths:
            yield any_under(self.include_paths)
        if left_out := [entry for entry in self.exclude_paths if clean(entry)]:
            excluded = any_under(left_out)
            yield lambda path: not excluded(path)
        if self.file_pattern:
            yield _pattern(self.file_pattern)
        if self.file_type:
            suffix = _suffix(self.file_type)
            yield lambda path: path.lower().endswith(suffix)


@lru_cache(_ACCEPTORS_KEPT)
def _acceptor(filters: Filters) -> Acceptor:
    return filters.acceptor()


def _is_tagged(path: str, language: str, tags: Sequence[str], tag: str) -> bool:
    """Return whether a tag is one of the file's own, its language, or a folder that it lies in."""
    return tag in tags or tag == language or tag in path.lower().split("/")[:-1]


def clean(entry: str) -> str:
    """Return a path filter in normal form: forward slashes, no `./`, no outer slashes; nothing for `.`."""
    entry = entry.replace("\\", "/").strip()
    while entry.startswith("./"):
        entry = entry[2:]
    return "" if entry == "." else entry.strip("/")


def under(path: str, entry: str) -> bool:
    """Return whether a path is the entry or inside it (`src` holds `src/lib.rs`, not `src2/lib.rs`)."""
    return any_under([entry])(path)


def any_under(entries: Iterable[str]) -> Matcher:
    """Return a matcher of the paths that are one of the entries or inside it; an entry may be a glob."""
    cleaned = [clean(entry) for entry in entries]
    if not all(cleaned):
        return lambda path: True
    folders = tuple(f"{entry}/" for entry in cleaned if not has_wildcard(entry))
    globs = [entry for entry in cleaned if has_wildcard(entry)]
    if not globs:
        return lambda path: f"{path}/".startswith(folders)
    matches = any_glob(globs)
    return lambda path: f"{path}/".startswith(folders) or matches(path)


def _pattern(pattern: str) -> Matcher:
    pattern = clean(pattern)
    if has_wildcard(pattern):
        return glob(pattern)
    return lambda path: pattern in path


def _suffix(file_type: str) -> str:
    return "." + file_type.lower().lstrip(".*")
