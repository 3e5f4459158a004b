"""`satchel grep`: the lines that hold a text, ranked, grouped by definition, cited, inside a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import (
    Command,
    Flag,
    Group,
    Positional,
    SaidInText,
    Verbatim,
)
from satchel.commands.shared import (
    BudgetCounts,
    CommitName,
    FilterFields,
    RepositoryRefs,
    ReserveTokens,
    TokenizerName,
    at_ref,
    repository_refs,
)
from satchel.commands.tool_results import counted_form
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.plugins import late
from satchel.retrieval.text_pattern import PatternOptions, TextPattern
from satchel.types import Counted
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.commands.session import Session
    from satchel.engine import Engine
    from satchel.retrieval import match_excerpts
    from satchel.retrieval.match_excerpts import FileCount, MatchAnswer, MatchItem
else:  # loads numpy, which `satchel --help` does without
    match_excerpts = late("satchel.retrieval.match_excerpts")

DEFAULT_TOKENS = 8_000  # as for a pack; a matching line takes 100 tokens of JSON or 35 of text
MOST_TOKENS = 200_000
MOST_CONTEXT = 50
_SCAN_SECONDS = 20.0  # a scan of so many gigabytes that nobody waits for its end


class GrepRequest(FilterFields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="a text, as it is"), Positional(), Flag("-e")]
    regex: Annotated[bool, Meta(description="the pattern is an RE2 expression")] = False
    ignore_case: Annotated[bool, Meta(description="any case of letters"), Flag("-i")] = False
    word: Annotated[bool, Meta(description="only whole words"), Flag("-w")] = False
    context: Annotated[int, Meta(description="lines around each match"), Flag("-C")] = 0
    count: Annotated[bool, Meta(description="only how many matches each file has"), Flag("-c")] = False
    budget_tokens: Annotated[int, Meta(description="tokens it may take")] = DEFAULT_TOKENS
    budget_counts: BudgetCounts = Counted.DATA
    reserve_tokens: ReserveTokens = 0
    tokenizer: TokenizerName = tokenizers.DEFAULT_BUDGET
    ref: CommitName = ""


class GrepExcerpt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines of a file: `matched` are those that match. `content_hash` is the sha256 of lines `start_line` to
    `end_line`; `is_cut` says that `text` has only a part of an overlong line."""

    start_line: int
    end_line: int
    matched: tuple[int, ...]
    chunk_id: str
    content_hash: str
    text: Annotated[str, Verbatim()]
    is_cut: bool = False


class GrepGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """The matches inside one definition, whose name, kind and lines it has; a group without a name is of
    lines outside of all definitions. `defines`: a match is where the name is defined. `left_out` counts
    further matching lines of it that are not shown."""

    path: str
    excerpts: tuple[GrepExcerpt, ...]
    name: str = ""
    kind: str = ""
    start_line: int = 0
    end_line: int = 0
    defines: bool = False
    left_out: int = 0


class GrepFile(msgspec.Struct, frozen=True):
    """A file and how many matches it has."""

    path: str
    matches: int


class GrepResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`matches` and `files` count everything that was found; `shown_matches` and `shown_files` what is shown:
    the difference is left out for the budget. Matches are counted one by one, and by line where a kind of
    chunk is asked for. `file_hashes` has the sha256 of each file that lines are shown of. `unread_files` were
    not read because the time was over."""

    pattern: Annotated[str, SaidInText()]
    matches: int
    files: int
    shown_matches: int
    shown_files: Annotated[int, SaidInText()]
    budget_tokens: Annotated[int, SaidInText()]
    used_tokens: Annotated[int, SaidInText()]
    groups: Annotated[tuple[GrepGroup, ...], SaidInText()] = ()
    counts: Annotated[tuple[GrepFile, ...], SaidInText()] = ()
    file_hashes: Annotated[dict[str, str], SaidInText()] = msgspec.field(default_factory=dict)
    unread_files: int = 0
    refs: RepositoryRefs = msgspec.field(default_factory=dict)


def run(session: Session, request: GrepRequest) -> GrepResponse:
    """Find every line with an exact text, like grep over the index: definitions first, by enclosing
    definition, cited, within a budget; the rest is counted.

    In a regular expression, `^` and `$` are the ends of a line.
    """
    _check(request)
    options = PatternOptions(request.regex, request.ignore_case, request.word)
    pattern = TextPattern(request.pattern, options)
    tokenizer = tokenizers.get(request.tokenizer)

    room = int(request.budget_tokens / (1 + tokenizer.headroom)) - request.reserve_tokens
    with at_ref(session.engine, request.ref) as asked:

        def respond(shown: MatchAnswer) -> GrepResponse:
            return _response(asked, request, shown)

        written = counted_form(
            request.budget_counts, respond, lambda shown: session.formats.agent_text(respond(shown))
        )
        found = asked.find_text(pattern, request.filters(), request.budget_tokens, _SCAN_SECONDS)
        costs = match_excerpts.COSTS[request.budget_counts]
        filling = match_excerpts.MatchFilling(asked.corpus(), found, pattern, request.context, costs)
        fill = filling.file_counts if request.count else filling.lines
        answer = fill(tokenizer.count, lambda shown: tokenizer.count(written(shown)), room)
        if answer.used_tokens > room:
            raise _too_small(request, answer.used_tokens + request.reserve_tokens, tokenizer.headroom)
        if request.budget_counts is Counted.TEXT_AND_DATA:  # then the data says how large it is itself
            answer = match_excerpts.state_size(answer, lambda shown: tokenizer.count(compact(respond(shown))))
        return respond(answer)


def _check(request: GrepRequest) -> None:
    if request.budget_tokens > MOST_TOKENS:
        raise InvalidBudget(
            f"the budget is {request.budget_tokens} tokens, it must be at most {MOST_TOKENS}",
            hint=f"use {DEFAULT_TOKENS}",
            details={"max_tokens": MOST_TOKENS},
        )
    if not 0 <= request.context <= MOST_CONTEXT:
        raise InvalidRequest(
            f"the context is {request.context} lines, it must be from 0 to {MOST_CONTEXT}", hint="use 3"
        )


def _too_small(request: GrepRequest, used: int, headroom: float) -> InvalidBudget:
    """Return the error for a budget into which not even the counts fit."""
    least = int(used * (1 + headroom)) + 2
    return InvalidBudget(
        f"the budget of {request.budget_tokens} tokens is too small for any answer",
        hint=f"give at least {least}",
        details={"min_tokens": least},
    )


def _response(engine: Engine, request: GrepRequest, answer: MatchAnswer) -> GrepResponse:
    return GrepResponse(
        pattern=request.pattern,
        matches=answer.matches,
        files=answer.files,
        shown_matches=answer.shown_matches,
        shown_files=answer.shown_files,
        budget_tokens=request.budget_tokens,
        used_tokens=answer.used_tokens,
        groups=tuple(map(_group, answer.items)),
        counts=tuple(map(_file, answer.counts)),
        file_hashes={item.path: item.file_hash for item in answer.items},
        unread_files=answer.unread,
        refs=repository_refs(
            engine, (*(item.path for item in answer.items), *(item.path for item in answer.counts))
        ),
    )


def _group(item: MatchItem) -> GrepGroup:
    symbol = item.symbol
    excerpts = tuple(
        GrepExcerpt(
            part.start_line,
            part.end_line,
            part.matched,
            part.chunk_id,
            part.content_hash,
            part.text,
            part.is_cut,
        )
        for part in item.excerpts
    )
    if symbol is None:
        return GrepGroup(item.path, excerpts, left_out=item.left_out)
    return GrepGroup(
        item.path,
        excerpts,
        symbol.qualified_name,
        symbol.kind.value,
        symbol.start_line,
        symbol.end_line,
        item.defines,
        item.left_out,
    )


def _file(count: FileCount) -> GrepFile:
    return GrepFile(count.path, count.matches)


COMMAND = Command(
    "grep",
    GrepRequest,
    GrepResponse,
    run,
    takes_session=True,
    tool="grep",
    tool_fields=frozenset({"ref"}),
    group=Group.LOOK,
)
