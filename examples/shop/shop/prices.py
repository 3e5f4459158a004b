"""Prices in cents, and the tax on them."""

PRICES = {"tea": 450, "cup": 900, "book": 1500}
TAX = {"book": 0.07}
STANDARD_TAX = 0.2


def with_tax(name: str) -> int:
    """The price of one thing with its tax, rounded to the cent."""
    return round(PRICES[name] * (1 + TAX.get(name, STANDARD_TAX)))
