"""How much larger does an item make the text of a pack?

Sizes are added up, so that a pack is not rendered anew for each passage that it might hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from satchel.packing.budget import Size
from satchel.packing.pack import Item, Pack
from satchel.packing.sections import Section

_OTHER_PATHS = ("-", "+")  # no item is of such a file, so that a format finds nothing to leave out


class ItemCosts:
    """Sizes of items in one format, beside another item of their section: of the same file, or of another
    one. `measure` gives the size of a pack; items that are asked for must stay alive."""

    def __init__(self, frame: Pack, measure: Callable[[Pack], Size], *, flat: bool) -> None:
        self.frame = frame
        self.measure = measure
        self.flat = flat
        self._sizes: dict[tuple[int, bool], Size] = {}
        self._beside: dict[tuple[Section, str], Size] = {}
        self._sections: dict[Section, Size] = {}

    def of_file(self, items: Sequence[Item]) -> Size:
        """Return the size of the items of one file, without the headings of their sections."""
        total = Size()
        before: set[Section] = set()
        for item in items:
            total = total.plus(self._cost(item, item.section in before and not self.flat))
            before.add(item.section)
        return total

    def of_section(self, item: Item) -> Size:
        """Return the size of the heading of an item's section."""
        found = self._sections.get(item.section)
        if found is None:
            one, other = (_stub(item, path) for path in _OTHER_PATHS)
            alone = self._size(one)
            second = self._size(one, other).without(alone)
            found = alone.without(self._size()).without(second)
            found = self._sections[item.section] = Size(max(0, found.tokens), max(0, found.chars))
        return found

    def citation(self, item: Item) -> Size:
        """Return the size of an item without its lines."""
        stub = _stub(item, _OTHER_PATHS[0])
        bare = msgspec.structs.replace(item, content="\n", imports=())
        return self._size(stub, bare).without(self._size(stub))

    def _cost(self, item: Item, beside_own: bool) -> Size:
        key = id(item), beside_own
        found = self._sizes.get(key)
        if found is None:
            stub = _stub(item, item.path if beside_own else _OTHER_PATHS[0])
            base = self._beside.get((stub.section, stub.path))
            if base is None:
                base = self._beside[stub.section, stub.path] = self._size(stub)
            found = self._sizes[key] = self._size(stub, item).without(base)
        return found

    def _size(self, *items: Item) -> Size:
        return self.measure(msgspec.structs.replace(self.frame, items=items))


def stand_ins(item: Item) -> tuple[Item, ...]:
    """Return the items that sizes are measured beside, so that a tokenizer can prepare for them."""
    stubs = tuple(_stub(item, path) for path in _OTHER_PATHS)
    return (*stubs, *(msgspec.structs.replace(stub, content="\n") for stub in stubs))


def _stub(item: Item, path: str) -> Item:
    """Return a short item of the same section."""
    return msgspec.structs.replace(item, path=path, start_line=1, end_line=1, content="-\n", imports=())
