"""The vocabulary of Satchel on one page. Read this first.

A *source* is one file as read. A *chunk* is a citable piece of a source: whole lines, never
trimmed. A *symbol* is a definition, a *reference* a use of one. Everything here is immutable
and made of the standard library alone, so that it can cross a process boundary.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

LineRange = tuple[int, int]
"""The first and the last line of some text, counted from 1, both included."""


class ChunkKind(StrEnum):
    """What a chunk (or a symbol) is; the closed set of `chunk_type`."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    STRUCT = "struct"
    ENUM = "enum"
    INTERFACE = "interface"
    TRAIT = "trait"
    IMPL = "impl"
    CONST = "const"
    MODULE = "module"
    SECTION = "section"
    CONFIG = "config"
    TEXT = "text"
    FILE = "file"


class Label(StrEnum):
    """How one piece of code or text leads to another."""

    CALLS = "calls"
    USES = "uses"
    CONTAINS = "contains"
    EXTENDS = "extends"
    IMPORTS = "imports"
    TESTED_BY = "tested_by"
    LINKS_TO = "links_to"


class Strategy(StrEnum):
    """How far related items are followed: not at all, one hop, two."""

    DIRECT = "direct"
    EXTENDED = "extended"
    DEEP = "deep"


class RelatedMode(StrEnum):
    """Which related items go first: whatever belongs, or what has words of the question."""

    EXPLORE = "explore"
    FOCUS = "focus"


class AnchorPolicy(StrEnum):
    """Whether what a question names outright must be there, or counts as words like all others."""

    AUTO = "auto"
    OFF = "off"


class ResponseMode(StrEnum):
    """How much an answer says beside the facts: the state of the index, all there is to tell, or nothing."""

    FACTS = "facts"
    FULL = "full"
    MINIMAL = "minimal"


class Counted(StrEnum):
    """What the budget of a pack counts: its data, the text that agents read, or that with facts or data."""

    DATA = "data"
    TEXT = "text"
    TEXT_AND_FACTS = "text_and_facts"
    TEXT_AND_DATA = "text_and_data"


class SkipReason(StrEnum):
    """Why a file that the walk met is not in the index."""

    BINARY = "binary"
    GENERATED = "generated"
    HIDDEN = "hidden"
    IGNORED = "ignored"
    MINIFIED = "minified"
    SENSITIVE = "sensitive"
    SYMLINK = "symlink"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    UNSUPPORTED_NAME = "unsupported_name"
    VENDORED = "vendored"


class FileEntry(msgspec.Struct, frozen=True):
    """A file the walk found, before it is read. `path` is relative to the root, POSIX style."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0  # when the system last noted a change, which no program can set back; 0: not known
    inode: int = 0  # the number of the file, which another file in its place does not have; 0: not known

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """What an unchanged file has unchanged."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


class Skipped(msgspec.Struct, frozen=True):
    """A file the walk left out; `detail` names the value and the limit where there is one."""

    path: str
    reason: SkipReason
    detail: str = ""


class Walk(msgspec.Struct, frozen=True):
    """What a walk found, both lists sorted by path. `notes` say in what way it was not the usual walk."""

    files: list[FileEntry]
    skipped: list[Skipped]
    notes: tuple[str, ...] = ()


class Source(msgspec.Struct, frozen=True):
    """One file as read: decoded exactly (`text.encode(encoding)` gives the raw bytes back),
    except for redacted secret values, which keep their line."""

    path: str
    text: str
    language: str
    encoding: str
    file_hash: str
    size: int
    redactions: tuple[int, ...] = ()  # the line of each redacted value, ascending
    tags: tuple[str, ...] = ()  # what kind of path it is: test, docs, config, …


class Chunk(msgspec.Struct, frozen=True):
    """A citable piece: `text` is lines `start_line` to `end_line` of the source, line ends included.

    `title_path` is the heading path of a document or the qualified name of code; `body` is what
    the identity hashes (a Markdown section leaves its heading line out); `level` is the heading level.
    """

    kind: ChunkKind
    title_path: tuple[str, ...]
    start_line: int
    end_line: int
    text: str
    level: int = 0
    body_offset: int = 0  # where the body starts in `text`, in characters

    @property
    def name(self) -> str:
        """The last part of the title path, empty for unnamed code."""
        return self.title_path[-1] if self.title_path else ""

    @property
    def body(self) -> str:
        """The part of the text that identity is computed over."""
        return self.text[self.body_offset :]


class Symbol(msgspec.Struct, frozen=True):
    """A definition. Its lines are those of the definition itself, without decorators or comments."""

    name: str
    qualified_name: str
    kind: ChunkKind
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""


class Reference(NamedTuple):
    """A use of something by name. For an import, `name` is what is imported, as written:
    `django.db.models`, `./router`, `stdio.h`; for a link between documents, its target."""

    name: str
    label: Label
    line: int


class ByLines(StrEnum):
    """Why a file of a known language is read by lines, so that it has no symbols."""

    NO = ""
    NESTING = "nesting"  # blocks inside blocks beyond what a parser can hold
    ERRORS = "errors"  # line after line is no code of the language
    LIMIT = "limit"  # more time or memory than code of its size takes


class Parsed(msgspec.Struct, frozen=True):
    """What chunking makes of one source. Nothing in it depends on the path, so a renamed
    file is never parsed again. `comments` are (first line, last line) ranges of pure comment."""

    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    comments: tuple[LineRange, ...] = ()
    by_lines: ByLines = ByLines.NO


class Reason(msgspec.Struct, frozen=True):
    """Why a hit scored: a signal, how strong it was, and what that was worth."""

    signal: str
    strength: float
    score: float


class Hit(msgspec.Struct, frozen=True):
    """Lines that answer a question: a chunk, or the fitting part of a long one. `id` names just these lines,
    `chunk_id` the chunk that they are of. `snippet` is verbatim, from line `snippet_line` on."""

    id: str
    chunk_id: str
    path: str
    start_line: int
    end_line: int
    kind: ChunkKind
    name: str
    score: float
    snippet: str
    snippet_line: int
    text: str
    reasons: tuple[Reason, ...] = ()


class Suggestion(msgspec.Struct, frozen=True):
    """A next search that will find something, and why."""

    query: str
    reason: str


class ResolvedReference(msgspec.Struct, frozen=True):
    """A use of a name, and the definition it most likely means (empty if none is known)."""

    path: str
    line: int
    label: Label
    name: str
    target: str
    target_name: str
    confidence: float
    in_test: bool = False


class Passage(msgspec.Struct, frozen=True):
    """Lines of a file that may enter a pack: a definition with its comments, small neighbours together, or
    a window of a definition too long to be shown whole. All that a packer weighs is here."""

    path: str
    start_line: int
    end_line: int
    rank: int  # of its file, from 0
    score: float  # of its file, as it was ranked
    promise: float  # the share of the answer that it may hold, against the most promising one
    size: int  # characters
    chunk_id: str
    kind: ChunkKind
    name: str
    language: str
    tags: tuple[str, ...]
    head: LineRange  # the lines of the signature that names what this is
    names: tuple[tuple[int, ChunkKind, str], ...]  # what starts on which line, if it has a name
    whole: bool  # not a part of something longer
    defines: bool  # holds a definition
    named: bool  # the question names what it defines, outright
    asked: bool  # words of the question are in the name, or nothing in the file fits better
    only_imports: bool
    reasons: tuple[str, ...]  # the signals that speak for it, strongest first
