"""Does a pack fit its budget? The size that counts is that of the text which the caller receives.

A pack states its own size in that text, so the size depends on the number that is written down. While a pack
is filled it states the whole budget as used, which takes as many digits as any number may take. When it is
complete, `own_size` looks for the number that is true of the text that states it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product
from typing import NamedTuple

import msgspec

from satchel.errors import InvalidBudget, InvalidQuery
from satchel.packing.pack import Budget, Pack
from satchel.tokenizers import CharsPerToken, Tokenizer

MAX_TOKENS = 200_000
MAX_CHARS = 2_000_000
_GUIDANCE, _GUIDANCE_TOKENS = 0.03, 100  # the share of a budget kept for guidance, and the most of it
_ROUNDS = 6  # of writing the size into the text that is measured; two are usual
_NEAR = 16  # numbers that are tried one by one where those rounds find no true size
# What is counted for each item beside the whole text: its last characters, and the characters that may follow
# them where the next item stands beside it.
_END, _BETWEEN = 6, "\n\n\n"


class Size(NamedTuple):
    """The size of a text in the units that a budget can limit; 0 in a unit that is not limited."""

    tokens: int = 0
    chars: int = 0

    def without(self, other: Size) -> Size:
        """Return the difference of two sizes."""
        return Size(self.tokens - other.tokens, self.chars - other.chars)

    def plus(self, other: Size) -> Size:
        """Return the sum of two sizes."""
        return Size(self.tokens + other.tokens, self.chars + other.chars)

    def joined(self, other: Size) -> Size:
        """Return the smallest size that holds both sizes."""
        return Size(max(self.tokens, other.tokens), max(self.chars, other.chars))

    def holds(self, other: Size) -> bool:
        """Return whether a text of the other size fits into this size, in both units."""
        return other.tokens <= self.tokens and other.chars <= self.chars

    def told(self) -> str:
        """Return the size in words, for messages: `4,000 tokens and 12,000 characters`."""
        named = ((self.tokens, "tokens"), (self.chars, "characters"))
        return " and ".join(f"{value:,} {unit}" for value, unit in named if value)


_LARGEST = Size(MAX_TOKENS, MAX_CHARS)


class Gauge:
    """Measures packs in one format against one budget.

    `aside` is the part of the budget that is kept for what is sent along with the pack. `headroom_tokens` is
    the headroom of a pack that was made before; without it the tokenizer says how much is left free.
    """

    def __init__(
        self,
        render: Callable[[Pack], str],
        tokenizer: Tokenizer,
        *,
        max_tokens: int = 0,
        max_chars: int = 0,
        aside: Size = Size(),  # noqa: B008 (it cannot be changed)
        headroom_tokens: int | None = None,
    ) -> None:
        _check_limit("budget_tokens", max_tokens, MAX_TOKENS)
        _check_limit("max_chars", max_chars, MAX_CHARS)
        self.render = render
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.max_chars = max_chars
        self.aside = aside
        own_headroom = math.ceil(max_tokens * tokenizer.headroom)
        self.headroom = own_headroom if headroom_tokens is None else headroom_tokens

    def limited_to(self, limit: Size) -> Gauge:
        """Return a gauge of the same format against another budget."""
        return Gauge(
            self.render, self.tokenizer, max_tokens=limit.tokens, max_chars=limit.chars, aside=self.aside
        )

    def budget(self) -> Budget:
        """Return the budget as a pack states it while it is filled: all of it used."""
        return Budget(
            tokenizer=self.tokenizer.name,
            max_tokens=self.max_tokens,
            max_chars=self.max_chars,
            used_tokens=self.max_tokens,
            used_chars=self.max_chars or MAX_CHARS,
            headroom_tokens=self.headroom,
        )

    def room(self) -> Size:
        """Return the largest size that the whole text may have."""
        return Size(self.max_tokens - self.headroom, self.max_chars).without(self.aside)

    def prepare(self, packs: Iterable[Pack]) -> None:
        """Let the tokenizer prepare for counting parts of these packs. In a process that soon ends, many
        texts at once cost less than each alone; a tokenizer that is ready reads none of them."""
        if self.max_tokens:
            self.tokenizer.prepare(chain(self._texts(packs), _any_hash()))

    def _texts(self, packs: Iterable[Pack]) -> Iterator[str]:
        for pack in packs:
            yield self.render(pack)
            yield "".join(f"{item.content[-_END:]}{_BETWEEN}" for item in pack.items)

    def measure(self, text: str) -> Size:
        """Return the size of a text in the units of the budget."""
        tokens = self.tokenizer.count(text) if self.max_tokens else 0
        return Size(tokens, len(text) if self.max_chars else 0)

    def size(self, pack: Pack) -> Size:
        """Return the size of a pack while it is filled."""
        full = self.budget()
        return self.measure(self.render(stating(pack, Size(full.used_tokens, full.used_chars))))

    def size_in_any(self, pack: Pack) -> Size:
        """Return the size of a pack that states the largest numbers a budget can have, so that it is the same
        whatever the budget is."""
        tokens = MAX_TOKENS if self.max_tokens else 0
        budget = Budget(
            tokenizer=self.tokenizer.name,
            max_tokens=tokens,
            max_chars=MAX_CHARS if self.max_chars else 0,
            used_tokens=tokens,
            used_chars=MAX_CHARS,
            headroom_tokens=math.ceil(tokens * self.tokenizer.headroom),
        )
        return self.measure(self.render(msgspec.structs.replace(pack, budget=budget)))

    def sealed(self, pack: Pack, size: Size | None = None) -> Pack:
        """Return the complete pack with its own size written into it; `size` is its size while it was filled,
        if that is known."""
        counts: dict[str, int] = {}  # most numbers that are tried leave the text as it is

        def measure(stated: Pack) -> Size:
            text = self.render(stated)
            if self.max_tokens and text not in counts:
                counts[text] = self.tokenizer.count(text)
            # A pack states its characters also where they are not limited.
            return Size(counts.get(text, 0), len(text))

        return _state_own_size(pack, measure, size or self.size(pack))

    def kept_for_guidance(self) -> Size:
        """Return the room that items leave free, so that a full pack can still say what to do next."""
        tokens, chars = self.max_tokens * _GUIDANCE, self.max_chars * _GUIDANCE
        return Size(
            min(int(tokens), _GUIDANCE_TOKENS), min(int(chars), CharsPerToken.USUAL * _GUIDANCE_TOKENS)
        )

    def left(self, size: Size) -> Size:
        """Return the room beside a text of that size; a unit without a limit is never used up."""
        room = self.room()
        return Size(
            room.tokens - size.tokens if self.max_tokens else MAX_TOKENS,
            room.chars - size.chars if self.max_chars else MAX_CHARS,
        )

    def fits(self, size: Size) -> bool:
        """Return whether a text of that size is within the budget."""
        room = self.room()
        return (not self.max_tokens or size.tokens <= room.tokens) and (
            not self.max_chars or size.chars <= room.chars
        )

    def check(self, empty: Pack) -> None:
        """Raise InvalidBudget if not even the pack without items fits. The error names the smallest budget
        that holds it."""
        if self.fits(self._largest_size(empty)):
            return
        least = self._least_budget(empty)
        raise too_small(Size(self.max_tokens, self.max_chars), least)

    def _largest_size(self, pack: Pack) -> Size:
        """Return the larger of the sizes while the pack is filled and when it is complete: a bar that is
        drawn half full may be more tokens than a full one."""
        sealed = self.sealed(pack).budget
        return self.size(pack).joined(Size(sealed.used_tokens, sealed.used_chars))

    def _least_budget(self, empty: Pack) -> Size:
        """Return the smallest budget that holds the pack which states that budget."""
        least = Size(self.max_tokens, self.max_chars)
        while any(over := self._over(empty, least)):
            least = Size(least.tokens + over.tokens, least.chars + over.chars)
            if not _LARGEST.holds(least):
                raise InvalidQuery(
                    f"the question alone takes {least.tokens or least.chars:,} "
                    f"{'tokens' if least.tokens else 'characters'} of the answer, more than any budget",
                    hint="shorten it",
                )
        # The number of a larger budget may be fewer tokens than that of a smaller one, so smaller ones are
        # tried again.
        while least.tokens > self.max_tokens and not any(self._over(empty, least.without(Size(tokens=1)))):
            least = least.without(Size(tokens=1))
        return least

    def _over(self, empty: Pack, limit: Size) -> Size:
        """Return by how much the pack is larger than a budget."""
        other = self.limited_to(limit)
        size, room = other._largest_size(msgspec.structs.replace(empty, budget=other.budget())), other.room()
        return Size(
            max(0, size.tokens - room.tokens) if self.max_tokens else 0,
            max(0, size.chars - room.chars) if self.max_chars else 0,
        )


def make_within(gauge: Gauge, make: Callable[[Gauge], Pack]) -> Pack:
    """Return the pack that `make` gives. If the budget is too small, raise an error that names a budget which
    `make` was tried with: how much there is to say may itself depend on the budget."""
    given = least = Size(gauge.max_tokens, gauge.max_chars)
    while True:
        try:
            pack = make(gauge.limited_to(least))
        except InvalidBudget as error:
            # Each error names more than was given. One that does not says that no budget is enough.
            named = named_minimum(error)
            if least.holds(named):
                raise
            least = least.joined(named)
            continue
        if least == given:
            return pack
        raise too_small(given, least)


def named_minimum(error: InvalidBudget) -> Size:
    """Return the least budget that an error names; 0 in a unit that it does not name."""
    return Size(error.details.get("min_tokens", 0), error.details.get("min_chars", 0))


def stating(pack: Pack, size: Size) -> Pack:
    """Return the pack with a size written into it."""
    budget = msgspec.structs.replace(pack.budget, used_tokens=size.tokens, used_chars=size.chars)
    return msgspec.structs.replace(pack, budget=budget)


def _state_own_size(pack: Pack, measure: Callable[[Pack], Size], start: Size) -> Pack:
    """Return the pack with its own size written into it, looked for from `start` on. A bar that is drawn may
    make the text larger the less is stated, so where no number is true the bar is left out."""
    for drawn in (True, False):
        budget = msgspec.structs.replace(pack.budget, drawn=drawn)
        pack = msgspec.structs.replace(pack, budget=budget)
        exact = _exact_own_size(_measure_stating(pack, measure), start)
        if exact is not None:
            return stating(pack, exact)
    return stating(pack, _upper_bound(_measure_stating(pack, measure), start))


def _measure_stating(pack: Pack, measure: Callable[[Pack], Size]) -> Callable[[Size], Size]:
    """Return a function that gives the size of the pack when it states some size."""
    return lambda size: measure(stating(pack, size))


def own_size(measure: Callable[[Size], Size], start: Size) -> Size:
    """Return the size of a text that states its own size, looked for from `start` on. `measure` gives the
    size of the text that states some size. Where a tokenizer leaves no number that is true, return a size
    that the text does not exceed."""
    exact = _exact_own_size(measure, start)
    return exact if exact is not None else _upper_bound(measure, start)


def _exact_own_size(measure: Callable[[Size], Size], start: Size) -> Size | None:
    """Return a size that is that of the text which states it; None if no number near `start` is."""
    size, seen = start, []
    for _ in range(_ROUNDS):
        found = measure(size)
        if found == size:
            return size
        size = found
        seen.append(found)
    fewest, most = min(size.tokens for size in seen), max(size.tokens for size in seen)
    for tokens in range(fewest, min(most, fewest + _NEAR) + 1):
        size = Size(tokens, size.chars)
        for _ in range(2):  # characters follow from how many digits there are
            found = measure(size)
            if found == size:
                return size
            size = Size(tokens, found.chars)
    return None


def _upper_bound(measure: Callable[[Size], Size], start: Size) -> Size:
    """Return a size that the text which states it does not exceed."""
    size = start
    while not size.holds(found := measure(size)):
        size = size.joined(found)
    return size


def too_small(given: Size, least: Size) -> InvalidBudget:
    """Return the error of a budget that holds no answer. It names the units that are short, and the least of
    each that is enough."""
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
    """Return every four letters that can stand in a row in a hash, after the characters that formats write
    before a hash: which hashes a pack will hold is not known yet. A tokenizer reads digits apart."""
    fours = ["".join(letters) for letters in product("abcdef", repeat=4)]
    return [mark.join(fours) for mark in (" #", '="', ':"')]


def _check_limit(name: str, value: int, most: int) -> None:
    if not 0 <= value <= most:
        unit = "tokens" if name == "budget_tokens" else "chars"
        raise InvalidBudget(
            f"{name} is {value:,}, it must be from 1 to {most:,}",
            hint=f"give {name} a number in that range",
            details={f"max_{unit}": most} if value > most else {f"min_{unit}": 1},
        )
