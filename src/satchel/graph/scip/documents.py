"""Read the documents of a SCIP file: which files it describes, and which symbol stands at which position.

The file comes from elsewhere. What it takes in memory is limited by the largest document, and nothing that it
names is opened: its paths are only compared with those of the index.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

from satchel.errors import FileNotFound, InvalidRequest, TooLarge
from satchel.graph.scip.wire import Malformed, fields, numbers, stream_fields

MOST_BYTES = 2 * 1024**3  # of a file: 26 million occurrences at the 82 bytes that zod has for each
_MOST_DOCUMENT_BYTES = 128 * 1024**2  # of one source file: 1.6 million occurrences at that size
_MOST_METADATA_BYTES = 1024**2
_MOST_OCCURRENCES = 2_000_000  # of one document
_MOST_PATH = 4_096  # characters
_METADATA, _DOCUMENTS = 1, 2  # fields of an index
_PROJECT_ROOT = 3  # field of the metadata
_PATH, _OCCURRENCES, _TEXT, _ENCODING = 1, 2, 5, 6  # fields of a document
_RANGE, _SYMBOL, _ROLES = 1, 2, 3  # fields of an occurrence
_DEFINITION_ROLE = 1
_BEYOND = 1 << 31  # lines and columns are below
_HINT = "give a file that a SCIP indexer wrote, such as scip-typescript, scip-python or rust-analyzer"


class Occurrence(NamedTuple):
    """A symbol at a position: its line from 0, and the columns between which its text stands, in units of the
    document's encoding. `end` is -1 where the text goes over several lines."""

    line: int
    start: int
    end: int
    symbol: str
    is_definition: bool


class ScipDocument(NamedTuple):
    """What a SCIP file says about one file. `encoding` is the unit of columns: 1 bytes, 2 UTF-16, 3
    characters, 0 unknown. `text` is that of the file, if the indexer wrote it down."""

    path: str
    occurrences: Sequence[Occurrence]
    encoding: int
    text: bytes | None


class ScipFile:
    """A SCIP file that has been found to be one. `root` is the folder that documents have to be in."""

    def __init__(self, path: str | os.PathLike[str], root: Path) -> None:
        self.path = Path(path)
        self._prefix = ""  # what the paths of documents lack
        self._above = ""  # what they have too much
        with self._opened() as (stream, status):
            self.mtime_ns = status.st_mtime_ns
            wanted = {_METADATA: _MOST_METADATA_BYTES}
            for _, data in stream_fields(stream, status.st_size, wanted):
                self._prefix, self._above = _placed(_project_root(data), root)

    def documents(self) -> Iterator[ScipDocument]:
        """Yield the documents, with their paths relative to the root; one from outside keeps its own."""
        with self._opened() as (stream, status):
            wanted = {_DOCUMENTS: _MOST_DOCUMENT_BYTES}
            for _, data in stream_fields(stream, status.st_size, wanted):
                document = _document(data)
                yield document._replace(path=self._path_inside(document.path))

    def _path_inside(self, path: str) -> str:
        if self._above:
            return path.removeprefix(self._above) if path.startswith(self._above) else f"../{path}"
        return self._prefix + path

    @contextmanager
    def _opened(self) -> Iterator[tuple[BinaryIO, os.stat_result]]:
        """Open the file, and raise what is wrong with it as an error that names it."""
        name = self.path.name
        try:
            # Opening a pipe would wait for whoever writes into it.
            with open(os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
                status = os.fstat(stream.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise InvalidRequest(f"{name!r} is not a regular file", hint=_HINT)
                if status.st_size > MOST_BYTES:
                    raise TooLarge(
                        f"{name!r} has {status.st_size} bytes, more than {MOST_BYTES}",
                        hint="index parts of the project, and give their files one by one",
                        details={"bytes": status.st_size, "max_bytes": MOST_BYTES},
                    )
                # Left behind by an indexer that failed; taken as an index, it would drop what is known.
                if not status.st_size:
                    raise Malformed("it is empty")
                yield stream, status
        except OSError as error:
            raise FileNotFound(f"{name!r} cannot be read: {error.strerror}", hint=_HINT) from error
        except (Malformed, UnicodeDecodeError) as error:
            raise InvalidRequest(
                f"{name!r} is no SCIP index: {error}", hint=_HINT, details={"file": name}
            ) from error


def _project_root(metadata: bytes) -> str:
    """Return the folder that an index was made of, as its indexer wrote it; empty if that is no local one."""
    for number, value in fields(metadata):
        if number == _PROJECT_ROOT and isinstance(value, bytes):
            try:
                written = urlsplit(value.decode())
            except ValueError:
                return ""
            return unquote(written.path) if written.scheme == "file" else ""
    return ""


def _placed(project: str, root: Path) -> tuple[str, str]:
    """Return what the paths of an index lack, and what they have too much, to be relative to the root. An
    index that was made in another place is taken to have the same root."""
    here, there = root.as_posix().rstrip("/"), posixpath.normpath(project) if project else ""
    if there.startswith(f"{here}/"):
        return there.removeprefix(f"{here}/") + "/", ""
    if there and here.startswith(f"{there.rstrip('/')}/"):
        return "", here.removeprefix(f"{there.rstrip('/')}/") + "/"
    return "", ""


def _document(data: bytes) -> ScipDocument:
    path, text, encoding = "", None, 0
    occurrences: list[Occurrence] = []
    symbols: dict[bytes, str] = {}  # most symbols occur several times
    for number, value in fields(data):
        if number == _OCCURRENCES and isinstance(value, bytes):
            occurrences.append(_occurrence(value, symbols))
            if len(occurrences) > _MOST_OCCURRENCES:
                raise Malformed(f"{path!r} has more than {_MOST_OCCURRENCES} occurrences")
        elif number == _PATH and isinstance(value, bytes):
            path = value.decode()
            if len(path) > _MOST_PATH:
                raise Malformed(f"a path has {len(path)} characters, more than {_MOST_PATH}")
        elif number == _TEXT and isinstance(value, bytes):
            text = value
        elif number == _ENCODING and isinstance(value, int):
            encoding = value
    return ScipDocument(path, occurrences, encoding, text or None)


def _occurrence(data: bytes, symbols: dict[bytes, str]) -> Occurrence:
    position: list[int] = []
    symbol, roles = b"", 0
    for number, value in fields(data):
        if number == _RANGE:
            position += numbers(value)
        elif number == _SYMBOL and isinstance(value, bytes):
            symbol = value
        elif number == _ROLES and isinstance(value, int):
            roles = value
    if len(position) not in (3, 4) or any(each >= _BEYOND for each in position):
        raise Malformed(f"an occurrence has the range {position[:5]}")
    name = symbols.get(symbol)
    if name is None:
        name = symbols[symbol] = symbol.decode()
    last_line, end = (position[0], position[2]) if len(position) == 3 else (position[2], position[3])
    is_definition = bool(roles & _DEFINITION_ROLE)
    return Occurrence(position[0], position[1], end if last_line == position[0] else -1, name, is_definition)
