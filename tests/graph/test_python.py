"""What uses of Python names mean: every rule once, in a small shop, with its namesakes."""

from __future__ import annotations

from indexed import edges_of, imports_of

SHOP = {
    "shop/__init__.py": "from .basket import Basket\nfrom .prices import tax as vat\n\n__all__ = ['Basket']\n",
    "shop/base.py": """
class Store:
    def save(self):
        return self.key()

    def key(self):
        return 1


class Other:
    def save(self):
        pass
""",
    "shop/basket.py": """
from __future__ import annotations

from typing import Optional

from shop.base import Store
from . import prices
from .prices import tax


class Basket(Store):
    limit = 3

    def __init__(self, customer: Customer) -> None:
        self.customer = customer
        self.store = Store()
        self.items: list[Item] = []

    @property
    def first(self) -> Item:
        return self.items[0]

    def total(self, rate=None):
        tax = rate
        return sum(item.price() for item in self.items) + prices.tax(1) + (tax or 0)

    def close(self):
        self.save()
        super().save()
        self.store.key()
        self.customer.greet()
        self.first.price()
        return self

    @classmethod
    def empty(cls):
        return cls(None)


class Customer:
    def greet(self) -> Optional[Basket]:
        def helper():
            return tax(2)

        return helper()


class Item:
    def price(self):
        return 1
""",
    "shop/prices.py": "def tax(amount):\n    return amount\n\n\ndef total():\n    return tax(3)\n",
    "main.py": """
import shop
import shop.prices as money
from shop import Basket as Cart, vat
from shop.basket import *


def run(items, options):
    cart = Cart(None)
    cart.close().total()
    cart.customer.greet().close()
    shop.Basket.empty()
    money.tax(1)
    vat(2)
    Customer().greet()
    options.total()
    for item in cart.items:
        item.price()
    with Cart(None) as other:
        other.total()
    total = 1
    return total
""",
}


def test_every_rule_decides_what_it_can_and_nothing_else() -> None:
    assert {line for line in edges_of(SHOP) if line.startswith("main.py")} == {
        "main.py:9 Cart → shop/basket.py Basket (import)",
        "main.py:10 close → shop/basket.py Basket.close (constructor)",
        "main.py:10 total → shop/basket.py Basket.total (return)",
        "main.py:11 greet → shop/basket.py Customer.greet (attribute)",
        "main.py:11 close → shop/basket.py Basket.close (return)",
        "main.py:12 Basket → shop/basket.py Basket (import)",
        "main.py:12 empty → shop/basket.py Basket.empty (import)",
        "main.py:13 tax → shop/prices.py tax (import)",
        "main.py:14 vat → shop/prices.py tax (import)",
        "main.py:15 Customer → shop/basket.py Customer (import)",
        "main.py:15 greet → shop/basket.py Customer.greet (constructor)",
        "main.py:18 price → shop/basket.py Item.price (attribute)",
        "main.py:19 Cart → shop/basket.py Basket (import)",
        "main.py:20 total → shop/basket.py Basket.total (constructor)",
    }


def test_names_inside_a_class_mean_its_members_and_those_of_its_bases() -> None:
    found = {line for line in edges_of(SHOP) if line.startswith("shop/basket.py")}
    assert {line for line in found if "(self)" in line or "(attribute)" in line} >= {
        "shop/basket.py:28 save → shop/base.py Store.save (self)",
        "shop/basket.py:29 save → shop/base.py Store.save (self)",
        "shop/basket.py:30 key → shop/base.py Store.key (attribute)",
        "shop/basket.py:31 greet → shop/basket.py Customer.greet (attribute)",
        "shop/basket.py:32 first → shop/basket.py Basket.first (self)",
    }
    assert "shop/basket.py:43 tax → shop/prices.py tax (import)" in found
    assert "shop/basket.py:25 tax → shop/prices.py tax (import)" in found
    # a local variable of the name of an import is none of it
    assert not any(line.startswith("shop/basket.py:24 ") for line in found)
    assert not any("Other" in line for line in found)


def test_imports_lead_to_files() -> None:
    assert imports_of(SHOP) == {
        "shop/__init__.py → shop/basket.py",
        "shop/__init__.py → shop/prices.py",
        "shop/basket.py → shop/base.py",
        "shop/basket.py → shop/prices.py",
        "main.py → shop/__init__.py",
        "main.py → shop/prices.py",
        "main.py → shop/basket.py",
    }


def test_the_standard_library_is_not_a_file_of_its_name() -> None:
    files = {
        "app/__init__.py": "",
        "app/logging.py": "def getLogger():\n    pass\n",
        "app/main.py": "import logging\n\nlogging.getLogger()\n",
    }
    assert imports_of(files) == set() == edges_of(files)


def test_a_cycle_of_imports_and_values_ends() -> None:
    files = {
        "a.py": "from b import *\nx = y\nclass A(B):\n    pass\n",
        "b.py": "from a import *\ny = x\nz = z()\nclass B(A):\n    def run(self):\n        self.run()\n        x.run()\n",
    }
    assert "b.py:6 run → b.py B.run (self)" in edges_of(files)
