"""What the names of C++ mean. `benchmarks/results/graph_cpp.txt` has how true the edges are by clangd."""

from __future__ import annotations

from indexed import edges_of, imports_of

SHOP = {
    "include/shop/money.h": """\
#pragma once
#define SHOP_MAX(a, b) ((a) > (b) ? (a) : (b))
namespace shop {
class Money {
 public:
  Money plus(Money other) const;
  static Money zero();
};
inline namespace v1 {
class Wallet {
 public:
  void pay() {}
  Money rest() { return money_; }
 private:
  Money money_;
};
}
}
""",
    "include/shop/basket.h": """\
#pragma once
#include <memory>
#include <shop/money.h>
namespace shop {
class Item;
enum class Size { kSmall, kLarge };
class Priced {
 public:
  virtual int cost(const Item& item) = 0;
  void touch();
  int count_ = 0;
};
template <class T>
class Holder {
  T* held_;
};
class Basket : public Priced, private Holder<Item> {
 public:
  explicit Basket(int size);
  int cost(const Item& item) override;
  Money total() const;
  static Basket* make();
 private:
  struct Entry { void note() {} };
  std::unique_ptr<Wallet> wallet_;
  Money sum_;
  std::vector<Entry*> entries_;
};
using Purse = Basket;
Basket* open(int size);
}
""",
    "src/basket.cc": """\
#include "shop/basket.h"

namespace shop {
namespace {
void helper(int size) {}
}

Basket::Basket(int size) : sum_(Money::zero()) {
  helper(size);
  touch();
}

int Basket::cost(const Item& item) { return SHOP_MAX(1, count_); }

Money Basket::total() const {
  wallet_->pay();
  wallet_->rest().plus(sum_);
  for (auto* entry : entries_) {
    entry->note();
  }
  this->sum_.plus(sum_);
  auto rest = wallet_->rest();
  auto sum = [rest](Money other) { return rest.plus(other); };
  return sum_;
}

Basket* Basket::make() { return new Basket(1); }
void Priced::touch() {}
Money Money::plus(Money other) const { return other; }
Money Money::zero() { return Money(); }
Basket* open(int size) { return Basket::make(); }
}
""",
    "src/main.cc": """\
#include "shop/basket.h"

using namespace shop;
namespace sh = shop;

template <typename Money>
void each(Money money) { money.plus(money); }

int main() {
  Basket basket(1);
  basket.total().plus(Money());
  auto* other = shop::open(2);
  other->touch();
  auto made = sh::Basket::make();
  made->cost(item);
  std::unique_ptr<shop::Basket> held = std::make_unique<shop::Basket>(1);
  held->touch();
  static_cast<Purse*>(held.get())->touch();
  Priced& priced = *made;
  priced.cost(item);
  if (Basket* again = sh::Basket::make()) again->touch();
  std::open(1);
  unknown->touch();
  Size size = Size::kSmall;
}
""",
    "test/basket_test.cc": """\
#include "shop/basket.h"

namespace shop {
class BasketTest { protected: Basket basket_; };
TEST_F(BasketTest, total) { basket_.total(); }
TEST(Shop, open) { open(1); }
}
""",
}


def test_names_are_found_by_the_scopes_around_them() -> None:
    edges = edges_of(SHOP)
    basket, money = "include/shop/basket.h", "include/shop/money.h"
    assert {
        f"src/basket.cc:8 Basket → {basket} shop.Basket (linkage)",
        "src/basket.cc:8 zero → src/basket.cc shop.Money.zero (linkage)",
        "src/basket.cc:9 helper → src/basket.cc shop.helper (scope)",
        "src/basket.cc:10 touch → src/basket.cc shop.Priced.touch (self)",
        f"src/basket.cc:13 SHOP_MAX → {money} SHOP_MAX (linkage)",
        "src/basket.cc:27 Basket → include/shop/basket.h shop.Basket (linkage)",
        "src/main.cc:12 open → src/basket.cc shop.open (linkage)",
        "src/main.cc:14 Basket → include/shop/basket.h shop.Basket (linkage)",
        f"src/main.cc:24 Size → {basket} shop.Size (linkage)",
        "test/basket_test.cc:6 open → src/basket.cc shop.open (linkage)",
    } <= edges


def test_members_are_found_by_the_types_of_what_holds_them() -> None:
    edges = edges_of(SHOP)
    assert {
        "src/basket.cc:16 pay → include/shop/money.h shop.Wallet.pay (attribute)",
        "src/basket.cc:17 plus → src/basket.cc shop.Money.plus (return)",
        "src/basket.cc:19 note → include/shop/basket.h shop.Basket.Entry.note (attribute)",
        "src/basket.cc:21 plus → src/basket.cc shop.Money.plus (attribute)",
        "src/basket.cc:23 plus → src/basket.cc shop.Money.plus (return)",
        "src/main.cc:11 plus → src/basket.cc shop.Money.plus (return)",
        "src/main.cc:13 touch → src/basket.cc shop.Priced.touch (return)",
        "src/main.cc:14 make → src/basket.cc shop.Basket.make (linkage)",
        "src/main.cc:15 cost → src/basket.cc shop.Basket.cost (return)",
        "src/main.cc:17 touch → src/basket.cc shop.Priced.touch (annotation)",
        "src/main.cc:18 touch → src/basket.cc shop.Priced.touch (annotation)",
        "src/main.cc:20 cost → include/shop/basket.h shop.Priced.cost (annotation)",
        "src/main.cc:21 touch → src/basket.cc shop.Priced.touch (annotation)",
        "test/basket_test.cc:5 total → src/basket.cc shop.Basket.total (attribute)",
    } <= edges


def test_what_no_rule_decides_has_no_edge() -> None:
    edges = edges_of(SHOP)
    for line in ("src/main.cc:7", "src/main.cc:22", "src/main.cc:23"):
        assert not {edge for edge in edges if edge.startswith(f"{line} ")}
    # A declaration belongs to its definition, and is no use of it.
    assert not {edge for edge in edges if edge.startswith("include/shop/basket.h:30 open")}


def test_bases_and_includes_lead_to_their_files() -> None:
    edges = edges_of(SHOP)
    assert {
        "include/shop/basket.h:17 Priced → include/shop/basket.h shop.Priced (scope)",
        "include/shop/basket.h:17 Holder → include/shop/basket.h shop.Holder (scope)",
    } <= edges
    assert imports_of(SHOP) == {
        "include/shop/basket.h → include/shop/money.h",
        "src/basket.cc → include/shop/basket.h",
        "src/main.cc → include/shop/basket.h",
        "test/basket_test.cc → include/shop/basket.h",
    }


def test_of_two_classes_with_one_name_the_included_one_is_meant() -> None:
    files = {
        "a/tool.h": "struct Tool { void run() {} };\nnamespace n {}\n",
        "b/tool.h": "struct Tool { void run() {} };\nnamespace n {}\n",
        "b/list.h": '#include "b/tool.h"\nnamespace n {}\n',
        "use.cc": '#include "b/list.h"\nvoid go(Tool& tool) { tool.run(); }\n',
        "blind.cc": "void go(Tool& tool) { tool.run(); }\n",
    }
    edges = edges_of(files)
    assert "use.cc:2 run → b/tool.h Tool.run (annotation)" in edges
    assert not {edge for edge in edges if edge.startswith("blind.cc")}
    # What a file includes through another one changes.
    moved = edges_of(files, then={"b/list.h": '#include "a/tool.h"\nnamespace n {}\n'})
    assert "use.cc:2 run → a/tool.h Tool.run (annotation)" in moved


def test_of_two_functions_with_one_name_that_of_the_included_header_is_meant() -> None:
    files = {
        "src/base/check.h": "bool check(int coin);\n",
        "src/base/check.cpp": '#include "check.h"\nbool check(int coin) { return coin > 0; }\n',
        "src/till/quick.h": "inline bool check(long coin) { return coin > 1; }\n",
        "src/till/till.cpp": "#include <base/check.h>\nbool open() { return check(3); }\n",
        "src/till/shut.cpp": "bool shut() { return check(4); }\n",
    }
    edges = edges_of(files)
    assert "src/till/till.cpp:2 check → src/base/check.cpp check (linkage)" in edges
    # A header that is not included shows nothing.
    assert "src/till/shut.cpp:1 check → src/base/check.cpp check (linkage)" in edges
