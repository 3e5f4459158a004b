"""Does a pack fit? What counts is the text that the caller receives, measured last of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product
from typing import NamedTuple

import msgspec

from satchel.errors import InvalidBudget, InvalidQuery
from satchel.packing.pack import Budget, Pack
from satchel.tokenizers.tokenizer import Tokenizer

MAX_TOKENS = 200_000
MAX_CHARS = 2_000_000
CHARS_PER_TOKEN = 4  # about; where it need not be exact
_SMALLEST_TOKENS = 40  # a citation and a line
_GUIDANCE, _GUIDANCE_TOKENS = 0.03, 60  # the share of a budget kept for guidance, and the most of it
_ROUNDS = 6  # of writing the size into the text that is measured; two are usual
_NEAR = 16  # numbers that are tried one by one where those rounds end nowhere
# the last characters of a piece, and what may follow them where the next piece stands beside it
_END, _BETWEEN = 6, "\n\n\n"


class Size(NamedTuple):
    """How large a text is, in the units that are limited; 0 in a unit that is not."""

    tokens: int = 0
    chars: int = 0

    def without(self, other: Size) -> Size:
        return Size(self.tokens - other.tokens, self.chars - other.chars)

    def joined(self, other: Size) -> Size:
        """What holds both."""
        return Size(max(self.tokens, other.tokens), max(self.chars, other.chars))

    def holds(self, other: Size) -> bool:
        return other.tokens <= self.tokens and other.chars <= self.chars

    def told(self) -> str:
        named = ((self.tokens, "tokens"), (self.chars, "characters"))
        return " and ".join(f"{value:,} {unit}" for value, unit in named if value)


_LARGEST = Size(MAX_TOKENS, MAX_CHARS)


class Gauge:
    """Measures packs in one format, against one budget; `aside` of it is kept for what is sent with them."""

    def __init__(
        self,
        render: Callable[[Pack], str],
        tokenizer: Tokenizer,
        *,
        max_tokens: int = 0,
        max_chars: int = 0,
        aside: Size = Size(),  # noqa: B008 (it cannot be changed)
    ) -> None:
        _check("budget_tokens", max_tokens, MAX_TOKENS)
        _check("max_chars", max_chars, MAX_CHARS)
        self.render = render
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.max_chars = max_chars
        self.aside = aside
        self.headroom = math.ceil(max_tokens * tokenizer.headroom)

    def limited_to(self, most: Size) -> Gauge:
        """The same gauge against another budget."""
        return Gauge(
            self.render, self.tokenizer, max_tokens=most.tokens, max_chars=most.chars, aside=self.aside
        )

    def counting(self, render: Callable[[Pack], str]) -> Gauge:
        """A gauge of the same budget that measures another form of the same packs."""
        return Gauge(render, self.tokenizer, max_tokens=self.max_tokens, max_chars=self.max_chars)

    def budget(self) -> Budget:
        """The budget as a pack states it while it is made: with as many digits as any number may take."""
        return Budget(
            tokenizer=self.tokenizer.name,
            max_tokens=self.max_tokens,
            max_chars=self.max_chars,
            used_tokens=self.max_tokens,
            used_chars=self.max_chars or MAX_CHARS,
            headroom_tokens=self.headroom,
        )

    def room(self) -> Size:
        """What the whole text may take."""
        return Size(self.max_tokens - self.headroom, self.max_chars).without(self.aside)

    def prepare(self, packs: Iterable[Pack]) -> None:
        """Make ready to count parts of these packs: each alone is dearer, in a process that soon ends. A
        tokenizer that is ready looks at none of them."""
        if self.max_tokens:
            self.tokenizer.prepare(chain(self._texts(packs), _any_hash()))

    def _texts(self, packs: Iterable[Pack]) -> Iterator[str]:
        for pack in packs:
            yield self.render(pack)
            yield "".join(f"{item.content[-_END:]}{_BETWEEN}" for item in pack.items)

    def measure(self, text: str) -> Size:
        tokens = self.tokenizer.count(text) if self.max_tokens else 0
        return Size(tokens, len(text) if self.max_chars else 0)

    def size(self, pack: Pack) -> Size:
        """How large a pack is; while it is made, it states the whole budget as used."""
        full = self.budget()
        return self.measure(self.render(stating(pack, Size(full.used_tokens, full.used_chars))))

    def sealed(self, pack: Pack, size: Size | None = None) -> Pack:
        """The pack with its own size written into it."""
        counts: dict[str, int] = {}  # most numbers that are tried leave the text as it is

        def measure(stated: Pack) -> Size:
            text = self.render(stated)
            if self.max_tokens and text not in counts:
                counts[text] = self.tokenizer.count(text)
            return Size(counts.get(text, 0), len(text))  # said also where characters are not limited

        return state_own_size(pack, measure, size or self.size(pack))

    def kept_for_guidance(self) -> Size:
        """What items leave free, so that a full pack can still say what to do next."""
        tokens, chars = self.max_tokens * _GUIDANCE, self.max_chars * _GUIDANCE
        return Size(min(int(tokens), _GUIDANCE_TOKENS), min(int(chars), CHARS_PER_TOKEN * _GUIDANCE_TOKENS))

    def smallest_item(self) -> Size:
        """Less room than this is not worth another look."""
        return Size(
            _SMALLEST_TOKENS if self.max_tokens else 0,
            CHARS_PER_TOKEN * _SMALLEST_TOKENS if self.max_chars else 0,
        )

    def left(self, size: Size) -> Size:
        """What is free beside a text of that size; a unit that is not limited is never used up."""
        room = self.room()
        return Size(
            room.tokens - size.tokens if self.max_tokens else MAX_TOKENS,
            room.chars - size.chars if self.max_chars else MAX_CHARS,
        )

    def fits(self, size: Size) -> bool:
        room = self.room()
        return (not self.max_tokens or size.tokens <= room.tokens) and (
            not self.max_chars or size.chars <= room.chars
        )

    def check(self, bare: Pack) -> None:
        """A typed error when not even the empty pack fits; it names the smallest budget that works."""
        if self.fits(self._at_most(bare)):
            return
        least = self._least(bare)
        raise _too_small(Size(self.max_tokens, self.max_chars), least)

    def _at_most(self, pack: Pack) -> Size:
        """The size of a pack while it is made, or when it is sealed: a bar half full may be more tokens than
        a full one."""
        sealed = self.sealed(pack).budget
        return self.size(pack).joined(Size(sealed.used_tokens, sealed.used_chars))

    def _least(self, bare: Pack) -> Size:
        """The smallest budget that holds the pack which states that budget."""
        least = Size(self.max_tokens, self.max_chars)
        while any(over := self._over(bare, least)):
            least = Size(least.tokens + over.tokens, least.chars + over.chars)
            if not _LARGEST.holds(least):
                raise InvalidQuery(
                    f"the question alone takes {least.tokens or least.chars:,} "
                    f"{'tokens' if least.tokens else 'characters'} of the answer, more than any budget",
                    hint="shorten it",
                )
        while least.tokens > self.max_tokens and not any(self._over(bare, least.without(Size(tokens=1)))):
            least = least.without(Size(tokens=1))  # a larger budget may have been stated by fewer tokens
        return least

    def _over(self, bare: Pack, least: Size) -> Size:
        """By how much the pack is over a budget."""
        other = self.limited_to(least)
        size, room = other._at_most(msgspec.structs.replace(bare, budget=other.budget())), other.room()
        return Size(
            max(0, size.tokens - room.tokens) if self.max_tokens else 0,
            max(0, size.chars - room.chars) if self.max_chars else 0,
        )


def made_within(gauge: Gauge, make: Callable[[Gauge], Pack]) -> Pack:
    """The pack that `make` gives. Where its budget is too small, the error names a budget that `make` was
    tried with: how much there is to say may itself depend on the budget."""
    given = least = Size(gauge.max_tokens, gauge.max_chars)
    while True:
        try:
            pack = make(gauge.limited_to(least))
        except InvalidBudget as error:  # each names more than it was given, or that no budget is enough
            named = Size(error.details.get("min_tokens", 0), error.details.get("min_chars", 0))
            if least.holds(named):
                raise
            least = least.joined(named)
            continue
        if least == given:
            return pack
        raise _too_small(given, least)


def state_own_size(pack: Pack, measure: Callable[[Pack], Size], start: Size) -> Pack:
    """The pack with its own size written into it, looked for from `start` on. A bar that is drawn may make
    the text larger the less is stated, so where no number is the size of its text the bar is left out; a
    tokenizer for which there is still none gets the next larger number."""
    for drawn in (True, False):
        budget = msgspec.structs.replace(pack.budget, drawn=drawn)
        pack = msgspec.structs.replace(pack, budget=budget)
        if (found := _own_size(pack, measure, start)) is not None:
            return stating(pack, found)
    return stating(pack, _no_smaller(pack, measure, start))


def _own_size(pack: Pack, measure: Callable[[Pack], Size], start: Size) -> Size | None:
    """The size to state in a pack so that it is the pack's own; None if no number near it is."""
    size, seen = start, []
    for _ in range(_ROUNDS):
        found = measure(stating(pack, size))
        if found == size:
            return size
        size = found
        seen.append(found)
    fewest, most = min(size.tokens for size in seen), max(size.tokens for size in seen)
    for tokens in range(fewest, min(most, fewest + _NEAR) + 1):
        size = Size(tokens, size.chars)
        for _ in range(2):  # characters follow from how many digits there are
            found = measure(stating(pack, size))
            if found == size:
                return size
            size = Size(tokens, found.chars)
    return None


def _no_smaller(pack: Pack, measure: Callable[[Pack], Size], start: Size) -> Size:
    """A size to state in a pack that holds the pack which states it."""
    size = start
    while not size.holds(found := measure(stating(pack, size))):
        size = size.joined(found)
    return size


def stating(pack: Pack, size: Size) -> Pack:
    """The pack with a size written into it."""
    budget = msgspec.structs.replace(pack.budget, used_tokens=size.tokens, used_chars=size.chars)
    return msgspec.structs.replace(pack, budget=budget)


def _too_small(given: Size, least: Size) -> InvalidBudget:
    """The error of a budget that holds no answer; it names what is short, and by how much."""
    short = Size(
        least.tokens if least.tokens > given.tokens else 0, least.chars if least.chars > given.chars else 0
    )
    details = {"min_tokens": short.tokens, "min_chars": short.chars}
    return InvalidBudget(
        f"a budget of {given.told()} does not hold an empty answer, which takes {short.told()}",
        hint=f"give at least {short.told()}",
        details={name: value for name, value in details.items() if value},
    )


def _any_hash() -> list[str]:
    """Every four letters in a row of a hash, after what formats write before it: which hashes there will be
    is not known yet. To a tokenizer digits are a matter of their own."""
    fours = ["".join(letters) for letters in product("abcdef", repeat=4)]
    return [mark.join(fours) for mark in (" #", '="', ':"')]


def _check(name: str, value: int, most: int) -> None:
    if not 0 <= value <= most:
        unit = "tokens" if name == "budget_tokens" else "chars"
        raise InvalidBudget(
            f"{name} is {value:,}, it must be from 1 to {most:,}",
            hint=f"give {name} a number in that range",
            details={f"max_{unit}": most} if value > most else {f"min_{unit}": 1},
        )
