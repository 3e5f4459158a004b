"""What a customer wants to buy."""

from shop.prices import with_tax


class Basket:
    """Lines of goods, and their total with tax."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}

    def add(self, name: str, count: int = 1) -> None:
        """Put some of a thing into the basket."""
        self.lines[name] = self.lines.get(name, 0) + count

    def total(self) -> int:
        """The price of everything in cents, tax included."""
        return sum(with_tax(name) * count for name, count in self.lines.items())
