"""The vocabulary of Satchel on one page. Read this first.

The nouns, in the order in which a file meets them on its way to an agent:

- A walk lists a folder or a git commit: each file is a `FileEntry`, each file left out a `Skipped`.
- A `Source` is one file as read: decoded, with secret values redacted.
- A `Chunk` is a range of whole lines of a source that can be cited by an id. Chunks of a file do not overlap.
- A `Symbol` is a definition, a `Reference` a use as it is written, a `ResolvedReference` (an edge) a use
  together with the symbol that it means. `satchel.parsed.Parsed` holds what chunking finds in one source.
- A unit is what search scores: neighbouring small chunks, or a window of a long one. Units exist only inside
  an index, so there is no type for them here.
- A `Hit` is a ranked answer to a query.
- A `Passage` is a range of lines that may enter a pack. A pack shows some passages as its items.
- A `LineRange` is any other pair of first and last line.

Every value is immutable and made of strings, numbers, tuples and enums, so that it can cross a process
boundary. The module depends on the standard library and on msgspec, whose structs are smaller than
dataclasses, faster to create and loaded without generating code.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

LineRange = tuple[int, int]
"""The first and the last line of some text, counted from 1, both included."""


class ChunkKind(StrEnum):
    """The kind of a chunk or symbol. This is the closed set of values of `chunk_type`."""

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
    """How a piece of code or text refers to another one."""

    CALLS = "calls"
    USES = "uses"
    CONTAINS = "contains"
    EXTENDS = "extends"
    IMPORTS = "imports"
    TESTED_BY = "tested_by"
    LINKS_TO = "links_to"


class Strategy(StrEnum):
    """How many references a pack follows from its hits: none, one hop or two hops."""

    DIRECT = "direct"
    EXTENDED = "extended"
    DEEP = "deep"


class RelatedMode(StrEnum):
    """The order of related items: all by their relation, or those first that contain words of the query."""

    EXPLORE = "explore"
    FOCUS = "focus"


class AnchorPolicy(StrEnum):
    """Whether a path or name that the query states must be part of the answer (`auto`), or only counts as
    words (`off`)."""

    AUTO = "auto"
    OFF = "off"


class ResponseMode(StrEnum):
    """How much an answer says beside its content: the state of the index, everything known about the run, or
    nothing."""

    FACTS = "facts"
    FULL = "full"
    MINIMAL = "minimal"


class Counted(StrEnum):
    """What the budget of an answer counts: its structured data, its text, or its text together with facts or
    data."""

    DATA = "data"
    TEXT = "text"
    TEXT_AND_FACTS = "text_and_facts"
    TEXT_AND_DATA = "text_and_data"


class SkipReason(StrEnum):
    """Why a walk left a file out of the index."""

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


class FileEntry(msgspec.Struct, frozen=True, gc=False):
    """A file that a walk found and that is not read yet. `path` is relative to the root, with `/` between its
    parts."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0  # set by the system at every change, and by no program; 0 if not known
    inode: int = 0  # tells another file of the same name apart; 0 if not known

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """Return the values that stay equal as long as the file is not written."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


class Skipped(msgspec.Struct, frozen=True):
    """A file or folder that a walk left out. `detail` names the value and the limit, where the reason has
    one."""

    path: str
    reason: SkipReason
    detail: str = ""


class Walk(msgspec.Struct, frozen=True):
    """The result of a walk. Both lists are sorted by path; `notes` tell the user what was unusual about this
    walk."""

    files: list[FileEntry]
    skipped: list[Skipped]
    notes: tuple[str, ...] = ()


class Source(msgspec.Struct, frozen=True):
    """One file as read. `text.encode(encoding)` returns the raw bytes, except for redacted secret values; a
    redacted value never changes the number of lines."""

    path: str
    text: str
    language: str
    encoding: str
    file_hash: str
    size: int
    redactions: tuple[int, ...] = ()  # the line of each redacted value, ascending
    tags: tuple[str, ...] = ()  # by path: test, docs, config, …


class Chunk(msgspec.Struct, frozen=True):
    """Whole lines of a source that can be cited: `text` is lines `start_line` to `end_line`, line ends
    included.

    `title_path` is the path of headings in a document, or the qualified name in code. `level` is the level of
    a heading. The identity of a chunk is a hash of its `body`, which leaves out the heading line of a
    section.
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
        """Return the last part of the title path; it is empty for code without a name."""
        return self.title_path[-1] if self.title_path else ""

    @property
    def body(self) -> str:
        """Return the part of the text that the chunk's identity is computed from."""
        return self.text[self.body_offset :]


class Symbol(msgspec.Struct, frozen=True, gc=False):
    """A definition. Its lines are those of the definition itself, without decorators and comments above
    it."""

    name: str
    qualified_name: str
    kind: ChunkKind
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""


class Reference(NamedTuple):
    """A use of something by its name, as written. For an import, `name` is what is imported
    (`django.db.models`, `./router`, `stdio.h`); for a link between documents, it is the target."""

    name: str
    label: Label
    line: int


class ByLines(StrEnum):
    """Why a file was cut into windows of lines although its language is known. Such a file has no symbols."""

    NO = ""
    NESTING = "nesting"  # nested deeper than its parser can handle
    ERRORS = "errors"  # most of its lines are not code of the language
    LIMIT = "limit"  # parsing took more time or memory than a file of its size may take


class Reason(msgspec.Struct, frozen=True):
    """One signal that contributed to a hit: how strong it was and how much it added to the score."""

    signal: str
    strength: float
    score: float


class Hit(msgspec.Struct, frozen=True):
    """A ranked answer: a chunk, or the part of a long chunk that fits the query best. `id` names exactly
    these lines, `chunk_id` the whole chunk. `snippet` is verbatim text that starts at line `snippet_line`."""

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
    """A further query that is known to have hits, and the reason to try it."""

    query: str
    reason: str


class ResolvedReference(msgspec.Struct, frozen=True):
    """A use of a name together with the definition that it means, by the rule that decided it. Without a
    rule it only has the same name, and may mean the definition or not. `target` is empty if none is known."""

    path: str
    line: int
    label: Label
    name: str
    target: str
    target_name: str
    confidence: float  # the measured share of such uses that mean their target
    in_test: bool = False
    rule: str = ""

    @property
    def is_sure(self) -> bool:
        """Return whether a rule of the language decided what is meant."""
        return bool(self.rule)


class Passage(msgspec.Struct, frozen=True):
    """Lines of a file that may enter a pack: a definition with its comments, several small definitions, or a
    window of a definition that is too long to be shown whole. A packer decides by these fields alone."""

    path: str
    start_line: int
    end_line: int
    rank: int  # of its file, from 0
    score: float  # of its file, as it was ranked
    promise: float  # the estimated share of the answer that it holds, relative to the best passage
    size: int  # characters
    chunk_id: str
    kind: ChunkKind
    name: str
    language: str
    tags: tuple[str, ...]
    head: LineRange  # the lines of the signature
    names: tuple[tuple[int, ChunkKind, str], ...]  # (line, kind, name) of what starts in these lines
    whole: bool  # not a window of a longer definition
    defines: bool  # contains a definition
    named: bool  # the query names what it defines
    asked: bool  # its name contains words of the query, or nothing in its file fits better
    only_imports: bool
    reasons: tuple[str, ...]  # signals, strongest first
