"""Was this file written by a program, by its name or the length of its lines? Nobody reads such a file, so
nobody cites it. What a file says of itself is in `generated`."""

from __future__ import annotations

import re

from satchel.settings import WalkOptions
from satchel.types import Skipped, SkipReason

_LONG_LINE = 5_000  # characters; hand-written code stays far below, except for an image written into it
_LONGEST_LINE = 50_000  # a paragraph may be one line, and an embedded image; beyond it nobody reads the file
_MAX_LONG_SHARE = 0.5  # of a text in long lines
# Lines for each long one: code that carries its images has hundreds, the licences above a bundle are fewer.
_LINES_OF_A_SOURCE = 200
_MAX_MEAN = 300  # characters a line
_SMALL = 2_000  # characters; one long line in a small file says nothing about its mean

# A drawing or a record of measurements: what has one long line is long lines in all that matters.
_DATA_SUFFIXES = (".svg", ".json", ".geojson", ".xml")
_PROSE = frozenset({"markdown", "restructuredtext", "rst", "asciidoc", "org"})
_NOTEBOOKS = frozenset({"notebook", "jupyter", "ipynb"})
_PROSE_SUFFIXES = (".txt", ".text", ".adoc", ".org", ".tex")
_MINIFIED_NAMES = (
    ".min.js",
    ".min.mjs",
    ".min.css",
    ".bundle.js",
    ".js.map",
    ".css.map",
    ".mjs.map",
    ".ts.map",
)
_BINARY_SUFFIXES = frozenset(
    {
        "7z",
        "a",
        "ai",  # drawings of Adobe Illustrator, some of them readable in part
        "avi",
        "avif",
        "bin",
        "bmp",
        "bz2",
        "class",
        "dll",
        "dylib",
        "eot",
        "exe",
        "flac",
        "gif",
        "gz",
        "icns",
        "ico",
        "jar",
        "jpeg",
        "jpg",
        "lib",
        "mkv",
        "mo",
        "mov",
        "mp3",
        "mp4",
        "npy",
        "npz",
        "o",
        "obj",
        "ogg",
        "otf",
        "pdf",
        "pickle",
        "pkl",
        "png",
        "pyc",
        "pyd",
        "pyo",
        "so",
        "sqlite",
        "sqlite3",
        "tar",
        "tgz",
        "tif",
        "tiff",
        "ttf",
        "wasm",
        "wav",
        "webm",
        "webp",
        "whl",
        "woff",
        "woff2",
        "xls",
        "xlsx",
        "xz",
        "zip",
        "zst",
    }
)
# One English sentence stands in a hundred of these, and in the source that it was extracted from.
_CATALOGUES = (".po", ".pot", ".xlf", ".xliff")
_GENERATED_NAMES = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw|\.validate)?\.(?:go|cc|h|swift|dart)$|\.pbobjc\.[hm]$"
    r"|\.(?:g|freezed|mocks)\.dart$|\.(?:designer|g|g\.i|generated)\.(?:cs|vb)$|^zz_generated\..*\.go$"
    r"|\.generated\.(?:ts|js|go|rs|h|cpp)$|\.prebuilt$",
    re.IGNORECASE,
)


def left_out_by_name(path: str, options: WalkOptions) -> Skipped | None:
    """What need not even be read: its name says that it is no source."""
    name = path.rpartition("/")[2].lower()
    if name.rpartition(".")[2] in _BINARY_SUFFIXES and "." in name:
        return Skipped(path, SkipReason.BINARY, "by its name")
    if name.endswith(_MINIFIED_NAMES):
        return Skipped(path, SkipReason.MINIFIED, "by its name")
    if options.include_generated:
        return None
    if name.endswith(_CATALOGUES):
        return Skipped(path, SkipReason.GENERATED, "a translation catalogue, extracted from the sources")
    if name.count(".") < 2 and "_pb2" not in name and not name.endswith(".prebuilt"):
        return None  # nearly every name
    return Skipped(path, SkipReason.GENERATED, "by its name") if _GENERATED_NAMES.search(name) else None


def minified(path: str, text: str, language: str) -> str | None:
    """Why a text counts as minified, naming the value and the limit."""
    if language in _NOTEBOOKS or path.endswith(".ipynb"):
        return None  # images stand in it as one line
    if "\r" in text:
        text = text.replace("\r", "\n")
    if _longer_lines(text, _LONGEST_LINE):
        return f"a line of more than {_LONGEST_LINE} characters"
    if language in _PROSE or path.lower().endswith(_PROSE_SUFFIXES):
        return None
    lines = text.count("\n") + 1
    mean = len(text) // lines
    if len(text) > _SMALL and mean > _MAX_MEAN:
        return f"{mean} characters a line, the limit is {_MAX_MEAN}"
    long = _longer_lines(text, _LONG_LINE)
    if long and path.lower().endswith(_DATA_SUFFIXES):
        return f"a line of more than {_LONG_LINE} characters"
    if sum(long) > _MAX_LONG_SHARE * len(text) and lines < _LINES_OF_A_SOURCE * len(long):
        return f"{sum(long)} of {len(text)} characters in lines of more than {_LONG_LINE}"
    return None


def _longer_lines(text: str, limit: int) -> list[int]:
    """The lengths of the lines over a limit. Jumps from line end to line end backwards: a few steps per
    `limit` characters, not one per line."""
    found = []
    position = 0
    while len(text) - position > limit:
        end = text.rfind("\n", position, position + limit + 1)
        if end < 0:
            end = text.find("\n", position + limit + 1)
            end = len(text) if end < 0 else end
            found.append(end - position)
        position = end + 1
    return found
