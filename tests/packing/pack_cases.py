"""Random requests for packs, asked of random repositories, and the answer with all that a check wants to see."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from random_repositories import WORDS, name_in

from satchel import plugins
from satchel.commands import build_context_pack, context_pack
from satchel.commands.build_context_pack import BuildContextPackRequest
from satchel.commands.context_pack import ContextPackRequest
from satchel.commands.freshness import index_state
from satchel.engine import Engine
from satchel.pack_request import PackLayout, PackRequest
from satchel.packing.pack import Pack
from satchel.packing.sections import PackMode, Section
from satchel.retrieval.filters import Filters
from satchel.types import RelatedMode, Strategy
from satchel.visible_json import compact

TEXT_FORMATS = ("context", "markdown", "xml", "terminal", "sections")
ACTIONS = (*TEXT_FORMATS, "context_pack", "build_context_pack")
TOKENIZERS = ("o200k", "o200k", "cl100k", "claude", "chars4")
_MOST = 200_000  # of either unit
_FILTERS: tuple[dict[str, Any], ...] = (
    {"include_paths": ("src", "docs")},
    {"exclude_paths": ("src", "*.md")},
    {"file_pattern": "*.py"},
    {"path_prefix": "src"},
    {"language": "python"},
    {"file_type": ".md"},
    {"tags": ("test",)},
    {"chunk_type": "function"},
)


class Case(NamedTuple):
    """One request. `action` is a command, or a format of the command `pack`."""

    action: str
    query: str
    tokenizer: str
    tokens: int
    chars: int
    filters: dict[str, Any]
    options: dict[str, Any]

    def with_budget(self, details: dict[str, int]) -> Case:
        """The same request with the least budget that an error named."""
        tokens = details.get("min_tokens", self.tokens) if self.tokens else 0
        chars = details.get("min_chars", self.chars) if self.chars else 0
        return self._replace(tokens=tokens, chars=chars)


class Answer(NamedTuple):
    """A pack and the characters that the caller receives."""

    pack: Pack
    document: str


def draw(seed: int, number: int) -> Case:
    """The case of that number; the same in every run."""
    rng = random.Random(f"case {seed} {number}")
    action = rng.choice(ACTIONS)
    size = int(2 ** rng.uniform(rng.choice((0, 7, 7, 9)), 17.61))
    unit = rng.random()
    flat = action == "context_pack"
    return Case(
        action=action,
        query=_query(rng),
        tokenizer=rng.choice(TOKENIZERS),
        tokens=size if unit < 0.55 else 0,
        chars=min(_MOST, size * 4) if unit > 0.45 else 0,
        filters=rng.choice(_FILTERS) if rng.random() < 0.3 else {},
        options=_flat_options(rng) if flat else _section_options(rng),
    )


def _query(rng: random.Random) -> str:
    form = rng.randrange(8)
    words = " ".join(rng.choices(WORDS, k=rng.randrange(1, 6)))
    return (
        words,
        name_in(rng),
        f"where is {name_in(rng)} used to {words}",
        f"src/{rng.choice(WORDS)}1.py",
        f'why "{words}" fails',
        f"documentation of {words} README.md",
        f"{words}\n\nTraceback:\n  File 'src/huge.py', line 40, in {name_in(rng)}\nValueError: {words}\n",
        rng.choice(("NoSuchThingAnywhere", "zzz qqq", "💡 購物 \x1b[2J", "nowhere/at/all.rs", "x" * 3000)),
    )[form]


def _section_options(rng: random.Random) -> dict[str, Any]:
    capped = rng.sample(list(Section), rng.randrange(4)) if rng.random() < 0.4 else []
    return {
        "mode": rng.choice(list(PackMode)),
        "section_caps": {section.value: rng.choice((0, 0, 1, 2, 20)) for section in capped},
        "max_candidates": rng.choice((1, 3, 72, 72, 300)),
    }


def _flat_options(rng: random.Random) -> dict[str, Any]:
    return {
        "limit": rng.choice((1, 2, 10, 10, 100)),
        "prefer_code": rng.choice((None, True, False)),
        "include_docs": rng.random() < 0.7,
        "related_mode": rng.choice((None, *RelatedMode)),
        "strategy": rng.choice(list(Strategy)),
        "max_related_per_primary": rng.choice((0, 1, 3, 8)),
    }


def ask(engine: Engine, case: Case) -> Answer:
    """The answer, as the command of the case makes it."""
    render = renderer(engine, case)
    is_flat = case.action == "context_pack"
    fields = {} if is_flat else {"max_candidates": 72}
    request = PackRequest(
        query=case.query,
        filters=Filters(**case.filters),
        layout=PackLayout.FLAT if is_flat else PackLayout.SECTIONED,
        budget_tokens=case.tokens or None,
        max_chars=case.chars or None,
        tokenizer=case.tokenizer,
        **fields | case.options,
    )
    pack = engine.make_pack(request, render)
    return Answer(pack, render(pack))


def renderer(engine: Engine, case: Case) -> Callable[[Pack], str]:
    """How the action of a case writes a pack."""
    if case.action == "context_pack":
        state = index_state(engine)
        return lambda pack: compact(context_pack.response_of(pack, state))
    if case.action == "build_context_pack":
        return lambda pack: compact(build_context_pack.response_of(pack))
    render: Callable[[Pack], str] = plugins.load("renderer", case.action).render
    return render


def sectioned_request(case: Case) -> BuildContextPackRequest:
    return BuildContextPackRequest(
        query=case.query,
        tokenizer=case.tokenizer,
        budget_tokens=case.tokens,
        max_chars=case.chars,
        **case.filters,
        **case.options,
    )


def flat_request(case: Case) -> ContextPackRequest:
    return ContextPackRequest(
        query=case.query,
        tokenizer=case.tokenizer,
        budget_tokens=case.tokens,
        max_chars=case.chars,
        **case.filters,
        **case.options,
    )
