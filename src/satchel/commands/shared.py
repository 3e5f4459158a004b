"""Request fields and response parts that several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel.commands.command import Flag, GitName, LocalPath, Positional, SaidInText
from satchel.retrieval.filters import Filters
from satchel.storage.records import SymbolRecord
from satchel.types import Counted

if TYPE_CHECKING:
    from satchel.engine import Engine

Paths = tuple[str, ...]
AGENT_TEXT = "context"  # the format that agents read a pack in

# The types of request fields, each with what every surface says of it.
QueryText = Annotated[
    str, Meta(description="a question, an identifier, a path or an error text"), Positional()
]
CommitName = Annotated[str, Meta(description="answer from this commit, branch or tag"), GitName()]
TokenizerName = Annotated[
    str,
    Meta(description="how tokens are counted: o200k, cl100k, claude or chars4"),
    LocalPath(or_name=True),
]
BudgetCounts = Annotated[
    Counted,
    Meta(description="what the budget counts: the data, the text for agents, or a tool's whole result"),
]
ReserveTokens = Annotated[
    int, Meta(ge=0, description="tokens of the budget to leave free for what is sent with the answer")
]
WithTrace = Annotated[bool, Meta(description="say what was done to answer")]


class FilterFields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The filters of everything that searches."""

    path_prefix: Annotated[str, Meta(description="only below this folder")] = ""
    file_type: Annotated[str, Meta(description="only files with this suffix, such as .py")] = ""
    chunk_type: Annotated[
        str, Meta(description="only chunks of this kind, such as class; file: files of one chunk")
    ] = ""
    tags: Annotated[
        Paths,
        Meta(description="only this tag, language, folder or kind of chunk (repeatable)"),
        Flag("--tag"),
    ] = ()
    include_paths: Annotated[
        Paths, Meta(description="only this folder, file or glob (repeatable)"), Flag("--include")
    ] = ()
    exclude_paths: Annotated[
        Paths, Meta(description="not this folder, file or glob (repeatable)"), Flag("--exclude")
    ] = ()
    file_pattern: Annotated[
        str, Meta(description="only paths with this text in them, or matching this glob"), Flag("--pattern")
    ] = ""
    language: Annotated[str, Meta(description="only files in this language")] = ""

    def filters(self) -> Filters:
        """Return the filters as retrieval takes them."""
        return Filters(**{name: getattr(self, name) for name in Filters.__struct_fields__})


@contextmanager
def at_ref(engine: Engine, ref: str) -> Iterator[Engine]:
    """Give the engine that answers: this one, or that of a commit for as long as it is needed."""
    if not ref:
        yield engine
        return
    with engine.at(ref) as other:
        yield other


def trace_of(engine: Engine) -> dict[str, Any]:
    """Return what was done to have a fresh index: numbers of files by what became of them."""
    report = engine.last_refresh
    if report is None:
        return {"ref": engine.ref, "refreshed": False, "parsed": 0}
    counts = {name: getattr(report, name) for name in ("parsed", "moved", "touched", "dropped", "kept")}
    return {"ref": engine.ref, "refreshed": True, **counts}


RepositoryRefs = Annotated[
    dict[str, str],
    Meta(description="of a library: the commit of each repository that is cited, `NAME@COMMIT`, by name"),
    SaidInText(),
]


def repository_refs(engine: Engine, paths: Iterable[str]) -> dict[str, str]:
    """Return the commit of each repository of a library that some paths are in; nothing for one folder."""
    names = sorted({path.partition("/")[0] for path in paths})
    found = ((name, engine.repository_ref(f"{name}/")) for name in names)
    return {name: ref for name, ref in found if ref}


class SymbolItem(msgspec.Struct, frozen=True):
    """A definition."""

    path: str
    name: str
    qualified_name: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    doc: str


class UsedDefinition(SymbolItem, frozen=True):
    """A definition of the name, and how many sure uses it has in how many files."""

    uses: int
    files: int


def symbol_item(record: SymbolRecord) -> SymbolItem:
    """Return a stored symbol as commands answer with it."""
    symbol = record.symbol
    return SymbolItem(
        record.path,
        symbol.name,
        symbol.qualified_name,
        symbol.kind.value,
        symbol.start_line,
        symbol.end_line,
        symbol.signature,
        symbol.doc,
    )
