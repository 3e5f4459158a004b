"""A small shop.

The module docstring is a comment.
"""

from __future__ import annotations

import os.path as osp
from collections import OrderedDict, deque
from .base import Model as Base
from .helpers import *

# How long a cart lives.
CART_DAYS = 14
LIMIT = 3


class Item(Base):
    """One thing to sell."""

    price: int = 0

    @property
    def label(self) -> str:
        """Shown in the list."""
        return format_label(self.price)

    class Meta:
        ordering = ["price"]

    @staticmethod
    async def load(
        key: str,
        *,
        strict: bool = True,
    ) -> Item:
        def inner() -> None:
            fetch(key)

        return inner()


if osp.exists("x"):

    def fallback() -> None: ...


@decorate(1)
@other.thing
def total(items: list[Item]) -> int:
    # inner comment
    return sum(item.price for item in items)
