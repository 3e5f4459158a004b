"""What does the index of clangd say? A reader of the shards that its background index keeps on disk.

Each shard is a RIFF file about one file of the repository: a table of strings, symbols, references and what
the file includes. Numbers are written with seven bits a byte, lowest first. The layout is the one that clangd
19 writes (`clang-tools-extra/clangd/index/Serialization.cpp`); another version is refused.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from graph.truth import Place

_VERSIONS = (19, 20)
_DECLARES, _SPELLED = 1 | 2, 8  # kinds of references
_ID_BYTES = 8


@dataclass(slots=True)
class IndexedSymbol:
    """A symbol: its name, and where it is defined, or declared if it is defined nowhere."""

    number: bytes
    name: str
    scope: str
    places: set[Place] = field(default_factory=set)


class _Bytes:
    """Reads the parts of one chunk from left to right."""

    def __init__(self, data: bytes, strings: list[str]) -> None:
        self._data, self._strings = data, strings
        self.at = 0

    def is_at_end(self) -> bool:
        return self.at >= len(self._data)

    def byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def raw(self, count: int) -> bytes:
        self.at += count
        return self._data[self.at - count : self.at]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def string(self) -> str:
        return self._strings[self.number()]

    def location(self) -> tuple[str, int, int]:
        """Return the address of a file, with line and column from 0."""
        address, line, column = self.string(), self.number(), self.number()
        self.number(), self.number()
        return address, line, column


class ClangdIndex:
    """All that the shards of one repository say about its own files."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._root = root.resolve()
        self.symbols: dict[bytes, IndexedSymbol] = {}
        self.uses: dict[bytes, set[Place]] = defaultdict(set)
        self.meanings: dict[Place, set[bytes]] = defaultdict(set)  # of the names at positions
        self.declared: set[Place] = (
            set()
        )  # where something is declared: a constructor has the name of its class
        self.named_lines: dict[str, set[int]] = defaultdict(set)
        self.named: dict[tuple[str, str], set[bytes]] = defaultdict(set)  # by scope and name
        self.includes: set[tuple[str, str]] = set()
        self.files: set[str] = set()
        for path in sorted(folder.glob("*.idx")):
            self._read(path.read_bytes())

    def _read(self, data: bytes) -> None:
        chunks = _chunks(data)
        version = struct.unpack("<I", chunks[b"meta"])[0]
        if version not in _VERSIONS:
            raise ValueError(f"an index of version {version} cannot be read")
        strings = _strings(chunks[b"stri"])
        self._read_symbols(_Bytes(chunks.get(b"symb", b""), strings))
        self._read_references(_Bytes(chunks.get(b"refs", b""), strings))
        self._read_files(_Bytes(chunks.get(b"srcs", b""), strings))

    def _read_symbols(self, data: _Bytes) -> None:
        while not data.is_at_end():
            number = data.raw(_ID_BYTES)
            data.raw(2)  # kind and language
            name = data.string()
            scope = data.string()
            data.number()  # the arguments of a specialisation
            defined, declared = self._place(data), self._place(data)
            data.number()
            data.byte()
            for _ in range(5):
                data.number()
            for _ in range(data.number()):
                data.number(), data.number()
            self.named[scope, name].add(number)
            symbol = self.symbols.setdefault(number, IndexedSymbol(number, name, scope))
            symbol.places.update(place for place in (defined or declared,) if place is not None)

    def _read_references(self, data: _Bytes) -> None:
        while not data.is_at_end():
            number = data.raw(_ID_BYTES)
            for _ in range(data.number()):
                kind, place = data.byte(), self._place(data)
                data.raw(_ID_BYTES)  # what it stands in
                if place is None:
                    continue
                self.named_lines[place.path].add(place.line)
                if kind & _DECLARES:
                    self.declared.add(place)
                elif kind & _SPELLED:
                    self.uses[number].add(place)
                    self.meanings[place].add(number)

    def _read_files(self, data: _Bytes) -> None:
        while not data.is_at_end():
            data.byte()
            path = self._path(data.string())
            data.raw(_ID_BYTES)
            targets = [self._path(data.string()) for _ in range(data.number())]
            if path:
                self.files.add(path)
                self.includes.update((path, target) for target in targets if target and target != path)

    def _place(self, data: _Bytes) -> Place | None:
        address, line, column = data.location()
        path = self._path(address)
        return Place(path, line + 1, column) if path else None

    def _path(self, address: str) -> str:
        """Return the path of a file of the repository, empty for another one."""
        path = Path(unquote(address.removeprefix("file://")))
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else ""


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a RIFF file by their names."""
    found, at = {}, 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        found[name] = data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    return found


def _strings(data: bytes) -> list[str]:
    """Return the table of strings."""
    size = struct.unpack_from("<I", data)[0]
    plain = zlib.decompress(data[4:]) if size else data[4:]
    return plain.decode("utf-8", "replace").split("\0")
