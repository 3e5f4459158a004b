"""How many tokens does an agent read until it has seen all the lines that it needs?

An agent that follows a fixed policy makes calls one after the other. A `CallAnswer` is what one call shows.
Its tokens are counted over plain text, a citation and the lines, for Satchel and for other tools alike. A
call whose citation names nothing that is new is not made; every other call is paid for in full.

    pack     one pack, of the first budget of the ladder that is enough
    next     a pack of 4,000 tokens, then the call of `get` that it proposes, then the definitions that it
             proposes, then those that it names or cuts, then as `search`
    search   a search, then the definition around each hit, ten hits at a time; of a definition of more than
             150 lines those of the hit and 20 on either side
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple

import msgspec

from satchel.engine import Engine
from satchel.errors import InvalidBudget
from satchel.evaluation.fixes import Line
from satchel.pack_request import PackRequest
from satchel.packing import surrounding_lines
from satchel.packing.guidance import FETCH
from satchel.packing.pack import Pack, plain_text
from satchel.packing.surrounding_lines import FetchedLines
from satchel.storage.open_files import OpenFiles
from satchel.tokenizers import DEFAULT_BUDGET, CharsPerToken
from satchel.types import Hit

CEILING = 30_000  # tokens; whoever has read more without seeing the place reads on by hand
LADDER = (1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, CEILING)
FIRST_PACK = 4_000  # tokens of the pack that an agent asks for by default
_PAGE = 10  # hits of one search
_MOST_HITS = 100
_DEFINED_AT = re.compile(r"\bdefined at (.+):(\d+)$")
_LONG, _AROUND = (
    150,
    20,
)  # lines of a definition that is not read whole, and those read on either side of a hit

CountTokens = Callable[[str], int]


class CallAnswer(NamedTuple):
    """The answer to one call: its text and the lines that it shows."""

    text: str
    lines: frozenset[Line]


class Packs:
    """The packs of one query at some budgets. Each is made once; what the query finds serves them all."""

    def __init__(self, engine: Engine, query: str, tokenizer: str = DEFAULT_BUDGET) -> None:
        self._request = PackRequest(query=query, tokenizer=tokenizer)
        self._pipeline = engine.pipeline(self._request)
        self._made: dict[int, Pack | None] = {}

    def of(self, budget: int) -> Pack | None:
        """Return the pack of a budget; None where the budget is too small for any pack of this query."""
        if budget not in self._made:
            gauge = msgspec.structs.replace(self._request, budget_tokens=budget).gauge(plain_text)
            try:
                self._made[budget] = self._pipeline.pack(gauge)
            except InvalidBudget:
                self._made[budget] = None
        return self._made[budget]

    def lines(self, budget: int) -> frozenset[Line]:
        """Return the lines that the pack of a budget shows."""
        return _shown(self.of(budget))


class AgentCalls:
    """The calls that policies are made of, asked of one index."""

    def __init__(self, engine: Engine, packs: Packs, query: str) -> None:
        self._engine = engine
        self._packs = packs
        self._query = query
        self._files = OpenFiles(engine.snapshot())

    def pack_then_next(self) -> Iterator[CallAnswer]:
        """Yield what an agent reads that starts with a pack."""
        pack = self._packs.of(FIRST_PACK)
        if pack is not None:
            yield CallAnswer(plain_text(pack), _shown(pack))
            yield from self.proposed(pack)
            for item in pack.items:
                yield from self._definition(item.path, item.start_line, item.end_line)
        yield from self.search_then_get()

    def proposed(self, pack: Pack) -> Iterator[CallAnswer]:
        """Yield what the proposals of a pack lead to, the first proposal first: the lines of a call of `get`,
        all at once; then for each name the definition where the proposal says that it is, else the first hit
        of a search for it."""
        for hint in pack.hints:
            if hint.startswith(FETCH):
                fetched = [self._lines(one) for one in shlex.split(hint.removeprefix(FETCH))]
                yield CallAnswer(
                    "".join(one.text for one in fetched), frozenset().union(*(one.lines for one in fetched))
                )
        for proposal in pack.next_queries:
            if stated := _DEFINED_AT.search(proposal.reason):
                yield from self._definition(stated[1], int(stated[2]), int(stated[2]))
                continue
            for hit in self._engine.search(proposal.query, 1)[0]:
                yield from self._definition(hit.path, hit.start_line, hit.end_line)

    def search_then_get(self) -> Iterator[CallAnswer]:
        """Yield what an agent reads that searches and gets the definition around each hit."""
        hits: Sequence[Hit] = self._engine.search(self._query, _MOST_HITS)[0]
        for start in range(0, len(hits), _PAGE):
            page = hits[start : start + _PAGE]
            yield _snippets(page)
            for hit in page:
                yield from self._definition(hit.path, hit.start_line, hit.end_line)

    def _lines(self, locator: str) -> CallAnswer:
        """Return the lines that a locator names, as `get` shows them."""
        path, first, last = locator.rsplit(":", 2)
        file = self._files.get(path)
        lines = file.lines if file is not None else ()
        return answer_of_lines(path, int(first), lines[int(first) - 1 : int(last)])

    def _definition(self, path: str, first: int, last: int) -> Iterator[CallAnswer]:
        """Yield the innermost definition around some lines, as `get --enclosing` shows it; of a long one the
        lines and those around them."""
        file = self._files.get(path)
        if file is not None:
            definitions = surrounding_lines.definitions(file)
            found = surrounding_lines.enclosing(file, definitions, FetchedLines(path, first, last))
            start, end = found.first, found.last
            if end - start >= _LONG:
                start, end = max(start, first - _AROUND), min(end, last + _AROUND)
            yield answer_of_lines(path, start, file.lines[start - 1 : end])


def answer_of_lines(path: str, first: int, lines: Sequence[str]) -> CallAnswer:
    """Return consecutive lines of a file as an answer."""
    cited = f"{path}:{first}:{first + len(lines) - 1}\n"
    return CallAnswer(cited + "".join(lines), frozenset((path, first + at) for at in range(len(lines))))


def tokens_until_seen(wanted: Set[Line], answers: Iterable[CallAnswer], count: CountTokens) -> int | None:
    """Return the tokens of all answers up to the one that shows the last wanted line; None if that takes
    more than the ceiling, or never happens."""
    seen: set[Line] = set()
    tokens = 0
    for answer in answers:
        if answer.lines <= seen:
            continue
        # A text that is longer than the rest in any tokenizer is not counted: files may be large.
        if len(answer.text) > (CEILING - tokens) * CharsPerToken.MOST:
            return None
        tokens += count(answer.text)
        if tokens > CEILING:
            return None
        seen |= answer.lines
        if wanted <= seen:
            return tokens
    return None


def tokens_of_one_pack(wanted: Set[Line], packs: Packs, count: CountTokens) -> int | None:
    """Return the tokens of the smallest pack of the ladder that shows all wanted lines; None if none does."""
    for budget in LADDER:
        pack = packs.of(budget)
        if pack is not None and wanted <= _shown(pack):
            return count(plain_text(pack))
    return None


def seen_after_next(packs: Packs, calls: AgentCalls) -> frozenset[Line]:
    """Return the lines that were seen after a pack of 4,000 tokens and its first proposal."""
    pack = packs.of(FIRST_PACK)
    followed = islice(calls.proposed(pack), 1) if pack is not None else ()
    return _shown(pack).union(*(answer.lines for answer in followed))


def _shown(pack: Pack | None) -> frozenset[Line]:
    items = pack.items if pack is not None else ()
    return frozenset(
        (item.path, line) for item in items for line in range(item.start_line, item.end_line + 1)
    )


def _snippets(hits: Sequence[Hit]) -> CallAnswer:
    """Return the answer to a search: where each hit is, and the few lines of it that are shown."""
    texts: list[str] = []
    lines: set[Line] = set()
    for hit in hits:
        shown = hit.snippet.rstrip("\n")
        texts.append(f"{hit.path}:{hit.start_line}:{hit.end_line} {hit.name}\n{shown}\n")
        lines.update((hit.path, hit.snippet_line + at) for at in range(shown.count("\n") + 1))
    return CallAnswer("".join(texts), frozenset(lines))
