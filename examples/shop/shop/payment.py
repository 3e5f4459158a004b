"""Taking money from a card, once and only once."""

import time

from shop.basket import Basket

RETRIES = 3
FIRST_PAUSE = 0.5


class BankBusy(Exception):
    """The bank cannot answer now."""


class CardRefused(Exception):
    """The bank will not pay for this card."""


def pay(basket: Basket, card: object, bank: object) -> str:
    """Charge a basket to a card; a busy bank is asked again with growing pauses."""
    pause = FIRST_PAUSE
    for attempt in range(RETRIES):
        try:
            return charge(basket.total(), card, bank)
        except BankBusy:
            if attempt == RETRIES - 1:
                raise
            time.sleep(pause)
            pause *= 2
    raise AssertionError("unreachable")


def charge(cents: int, card: object, bank: object) -> str:
    """One request to the bank; the answer is a receipt."""
    return bank.charge(card, cents)
