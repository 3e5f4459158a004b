"""Everything that a pack can be asked for, checked in one place.

`Engine.make_pack` runs a request for the commands that make packs, for `Engine.pack` and so for all servers.
What is wrong with a request is said once, by the same typed error everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

import msgspec

from satchel import tokenizers
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.packing.budget import Gauge, Size
from satchel.packing.pack import Pack
from satchel.packing.sections import PackMode, Section, caps_of
from satchel.plugins import late
from satchel.retrieval.filters import Filters
from satchel.tokenizers import CharsPerToken
from satchel.types import RelatedMode, Strategy

if TYPE_CHECKING:
    from satchel.retrieval import search
else:
    search = late("satchel.retrieval.search")  # the help of a command loads no numpy

DEFAULT_TOKENS = 4_000
DEFAULT_CANDIDATES = 150
MOST_CANDIDATES = 1_000
MOST_ITEMS = 100  # primary items of a flat pack, and related ones of each

Render = Callable[[Pack], str]


class PackLayout(StrEnum):
    """How a pack is filled: by sections, or as one list of primary items and what belongs to them."""

    SECTIONED = "sectioned"
    FLAT = "flat"


class PackRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one pack is asked for. A request that was made is valid.

    With a `change` (as git names it, empty for what differs from HEAD) the pack is for its review, and the
    query says what the reviewer wants to know. Budgets limit the text that is counted; `reserve_tokens` of
    them stay free. Where no budget is given, it is 4000 tokens. `mode`, `section_caps` and `max_candidates`
    are for packs in sections; `limit` and what follows it for flat ones, where None leaves a choice to what
    the query asks for. `weights` stand in for those of the profile.
    """

    query: str = ""
    change: str | None = None
    filters: Filters = Filters()
    layout: PackLayout = PackLayout.SECTIONED
    budget_tokens: int | None = None
    max_chars: int | None = None
    reserve_tokens: int = 0
    tokenizer: str = tokenizers.DEFAULT_BUDGET
    weights: dict[str, float] | None = None
    mode: PackMode = PackMode.FULL
    section_caps: dict[str, int] = msgspec.field(default_factory=dict)
    max_candidates: int = DEFAULT_CANDIDATES
    limit: int = 10
    prefer_code: bool | None = None
    include_docs: bool = True
    related_mode: RelatedMode | None = None
    strategy: Strategy = Strategy.EXTENDED
    max_related_per_primary: int = 3
    say_absent_names: bool = True

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Return the request with these fields; raise InvalidRequest for one that has another type or that
        there is not."""
        try:
            return msgspec.convert(dict(fields), cls)
        except msgspec.ValidationError as error:
            raise InvalidRequest(str(error), hint=f"fields: {', '.join(cls.__struct_fields__)}") from None

    def __post_init__(self) -> None:
        if self.change is None:
            search.check(self.query, 1)
        self._check_layout()
        _check_range("max_candidates", self.max_candidates, 1, MOST_CANDIDATES)
        _check_range("limit", self.limit, 1, MOST_ITEMS)
        _check_range("max_related_per_primary", self.max_related_per_primary, 0, MOST_ITEMS)
        self.caps()
        if self.reserve_tokens < 0:
            raise InvalidRequest(f"reserve_tokens is {self.reserve_tokens}, it must be 0 or more")

    def _check_layout(self) -> None:
        """Refuse what has no meaning for this kind of pack: it must not be passed over in silence."""
        if self.change is not None:
            what, instead = "the pack of a change", "ask a question instead of a change"
        elif self.layout is PackLayout.FLAT:
            what, instead = "the format json", "use --format sections"
        else:
            if given := self._given(_FLAT_ONLY):
                raise InvalidRequest(
                    f"a pack in sections takes no {', '.join(given)}",
                    hint="ask for a flat pack, or leave it out",
                )
            return
        if given := self._given(_SECTIONS_ONLY):
            raise InvalidRequest(
                f"{what} is not filled by sections, so {', '.join(given)} cannot be used with it",
                hint=f"{instead}, or leave it out",
            )

    def _given(self, names: tuple[str, ...]) -> list[str]:
        """Return those of the names that have another value than the default."""
        defaults = {field.name: field.default for field in msgspec.structs.fields(self)}
        values = {name: getattr(self, name) for name in names}
        return [name for name, value in values.items() if value not in (defaults[name], {})]

    def caps(self) -> dict[Section, int]:
        """Return how many items each section may have before others had their turn."""
        return caps_of(self.mode, self.section_caps)

    def gauge(self, render: Render) -> Gauge:
        """Return what measures packs against the budget; `render` writes the text that is counted."""
        if not callable(render):
            raise InvalidRequest(
                f"render is {render!r}, it must be a function of a pack",
                hint='use pack_format("markdown").render, or leave it out',
            )
        room = self._room()
        aside = Size(
            self.reserve_tokens if room.tokens else 0,
            self.reserve_tokens * CharsPerToken.USUAL if room.chars else 0,
        )
        tokenizer = tokenizers.get(self.tokenizer)
        return Gauge(render, tokenizer, max_tokens=room.tokens, max_chars=room.chars, aside=aside)

    def restated(self, pack: Pack, render: Render) -> Pack:
        """Return a pack of this request that states the size of another text of it."""
        return self.gauge(render).sealed(pack)

    def _room(self) -> Size:
        """Return the limits, 0 where there is none. How much the least answer takes is known when it is made,
        so a limit below 1 is tried as one of 1, which holds no answer."""
        limits = self._limits()
        return Size(*(0 if limit is None else max(limit, 1) for limit in limits.values()))

    def _limits(self) -> dict[str, int | None]:
        is_open = self.budget_tokens is None and self.max_chars is None
        return {"tokens": DEFAULT_TOKENS if is_open else self.budget_tokens, "characters": self.max_chars}

    def explained(self, error: InvalidBudget) -> InvalidBudget:
        """Return the error of a budget that is too small. Where a limit below 1 was given, it says so; either
        names the least that works."""
        given = self._limits_below_1()
        if not given:
            return error
        return InvalidBudget(
            f"the budget is {given}, which holds no answer", hint=error.hint, details=error.details
        )

    def check_budget(self) -> None:
        """Raise an error for a limit below 1, also where the text that is counted may be empty."""
        if given := self._limits_below_1():
            raise InvalidBudget(f"the budget is {given}, which holds no answer", hint="give at least 1")

    def _limits_below_1(self) -> str:
        below = {unit: limit for unit, limit in self._limits().items() if limit is not None and limit < 1}
        return " and ".join(f"{limit:,} {unit}" for unit, limit in below.items())


_SECTIONS_ONLY = ("mode", "max_candidates", "section_caps")
_FLAT_ONLY = (
    "limit",
    "prefer_code",
    "include_docs",
    "related_mode",
    "strategy",
    "max_related_per_primary",
    "say_absent_names",
)


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidRequest(f"{name} is {value}, it must be from {least} to {most}")
