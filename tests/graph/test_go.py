"""What the names of Go mean.

Measured on the development samples of cobra, gin and zoekt against go/types (November 2026): precision 1.000,
recall .998 to 1.000; of methods 1.000 and .985 to 1.000.
"""

from __future__ import annotations

from indexed import edges_of, imports_of

SHOP = {
    "go.mod": "module example.com/shop\n\nreplace example.com/tax => ./local/tax\n",
    "cart/cart.go": """\
package cart

import (
	"fmt"

	"example.com/shop/internal/price"
	money "example.com/shop/coin"
	"example.com/tax"
)

type Item struct {
	Name  string
	Price price.Price
	next  *Item
}

type Items []*Item

type Counter interface {
	Count() int
}

type Base struct{ log Logger }

func (b *Base) Note(text string) { b.log.Print(text) }

type Cart struct {
	*Base
	items Items
	byName map[string]*Item
	Counter
}

func New(log Logger) (*Cart, error) {
	c := &Cart{Base: &Base{log: log}, byName: map[string]*Item{}}
	c.Note("new")
	return c, nil
}

func (c *Cart) Add(names ...string) *Cart {
	for _, name := range names {
		item := &Item{Name: name}
		item.print()
		c.items = append(c.items, item)
		c.byName[name].print()
	}
	for _, each := range c.items {
		each.Price.Rounded().Show()
	}
	return c.check()
}

func (c *Cart) Total() (sum price.Price, err error) {
	total := c.items[0].Price.Plus(tax.Rate())
	fmt.Println(money.Format(total), c.Count())
	return total, nil
}

func (i Item) print() { i.next.print() }
""",
    "cart/check.go": """\
package cart

type Logger interface{ Print(text string) }

const limit = 10

var shared, _ = New(nil)

func (c *Cart) check() *Cart {
	if limit := len(c.items); limit > 3 {
		c.Base.Note("limit")
	}
	if len(c.items) > limit {
		shared.Add("x").Add("y").Note("z")
	}
	return c
}

func describe(value any) string {
	switch found := value.(type) {
	case *Cart:
		found.Total()
	case Item, *Item:
		found.print()
	default:
		_ = found
	}
	if cart, ok := value.(*Cart); ok {
		cart.Add()
	}
	New := func() int { return 1 }
	New()
	return value.(Counter).Count
}
""",
    "cart/cart_test.go": """\
package cart

func helper() *Cart {
	c, err := New(nil)
	_ = err
	return c
}
""",
    "cart/outside_test.go": """\
package cart_test

import (
	. "example.com/shop/cart"
	"example.com/shop/cart"
)

func check() {
	c, _ := New(nil)
	c.Add()
	total, err := c.Total()
	total.Show()
	err.Error()
	f := cart.New
	table := []struct{ name string }{{name: "x"}}
	for _, row := range table {
		row.name.Show()
	}
}
""",
    "internal/price/price.go": """\
package price

type Price int

type Currency = Price

func (p Price) Plus(other Price) Price { return p + other }
func (p Price) Rounded() *Price        { return &p }
func (p *Price) Show()                 {}

func Max[T any](first T, rest ...Price) (T, Currency) {
	var low Currency
	low.Show()
	for _, one := range rest {
		one.Show()
	}
	_, second := Max[int](1)
	second.Show()
	queue := make(chan *Price)
	(<-queue).Show()
	return first, new(Price).Plus(Price(3))
}
""",
    "coin/format.go": """\
package money

import "example.com/shop/internal/price"

func Format(p price.Price) string { return format(p) }
""",
    "coin/format_linux.go": "package money\n\nfunc format(p any) string { return `` }\n",
    "coin/format_windows.go": "package money\n\nfunc format(p any) string { return `` }\n",
    "local/tax/tax.go": "package tax\n\nfunc Rate() int { return 2 }\n",
    "cmd/shop/main.go": """\
package main

import (
	"example.com/shop/cart"
	"example.com/shop/coin"
	"example.com/other/cart2"
	_ "example.com/shop/internal/price"
)

type handler func(c *cart.Cart) *cart.Item

func main() {
	basket, err := cart.New(nil)
	if err != nil {
		return
	}
	basket.Add("x").Note(money.Format(3))
	run(func(c *cart.Cart) { c.Total() })
	var h handler
	h(basket).Name.Show()
	cart2.New()
	unknown.Add()
	main := basket.Total
}

func run(use func(c *cart.Cart)) { use(nil) }
""",
    "tools/gen.go": "//go:build ignore\n\npackage main\n\nfunc run() {}\n\nfunc start() { run() }\n",
}

USES = """
cart/cart.go:13 Price → internal/price/price.go Price (import)
cart/cart.go:14 Item → cart/cart.go Item (scope)
cart/cart.go:17 Item → cart/cart.go Item (scope)
cart/cart.go:23 Logger → cart/check.go Logger (package)
cart/cart.go:25 Base → cart/cart.go Base (scope)
cart/cart.go:25 Print → cart/check.go Logger.Print (attribute)
cart/cart.go:28 Base → cart/cart.go Base (scope)
cart/cart.go:29 Items → cart/cart.go Items (scope)
cart/cart.go:30 Item → cart/cart.go Item (scope)
cart/cart.go:31 Counter → cart/cart.go Counter (scope)
cart/cart.go:34 Cart → cart/cart.go Cart (scope)
cart/cart.go:34 Logger → cart/check.go Logger (package)
cart/cart.go:35 Base → cart/cart.go Base (scope)
cart/cart.go:35 Cart → cart/cart.go Cart (scope)
cart/cart.go:35 Item → cart/cart.go Item (scope)
cart/cart.go:36 Note → cart/cart.go Base.Note (constructor)
cart/cart.go:40 Cart → cart/cart.go Cart (scope)
cart/cart.go:42 Item → cart/cart.go Item (scope)
cart/cart.go:43 print → cart/cart.go Item.print (constructor)
cart/cart.go:45 print → cart/cart.go Item.print (attribute)
cart/cart.go:48 Rounded → internal/price/price.go Price.Rounded (attribute)
cart/cart.go:48 Show → internal/price/price.go Price.Show (return)
cart/cart.go:50 check → cart/check.go Cart.check (self)
cart/cart.go:53 Cart → cart/cart.go Cart (scope)
cart/cart.go:53 Price → internal/price/price.go Price (import)
cart/cart.go:54 Plus → internal/price/price.go Price.Plus (attribute)
cart/cart.go:54 Rate → local/tax/tax.go Rate (import)
cart/cart.go:55 Count → cart/cart.go Counter.Count (self)
cart/cart.go:55 Format → coin/format.go Format (import)
cart/cart.go:59 Item → cart/cart.go Item (scope)
cart/cart.go:59 print → cart/cart.go Item.print (attribute)
cart/cart_test.go:3 Cart → cart/cart.go Cart (package)
cart/cart_test.go:4 New → cart/cart.go New (package)
cart/check.go:7 New → cart/cart.go New (package)
cart/check.go:9 Cart → cart/cart.go Cart (package)
cart/check.go:11 Note → cart/cart.go Base.Note (attribute)
cart/check.go:13 limit → cart/check.go limit (scope)
cart/check.go:14 Add → cart/cart.go Cart.Add (return)
cart/check.go:14 Note → cart/cart.go Base.Note (return)
cart/check.go:14 shared → cart/check.go shared (scope)
cart/check.go:21 Cart → cart/cart.go Cart (package)
cart/check.go:22 Total → cart/cart.go Cart.Total (annotation)
cart/check.go:23 Item → cart/cart.go Item (package)
cart/check.go:28 Cart → cart/cart.go Cart (package)
cart/check.go:29 Add → cart/cart.go Cart.Add (annotation)
cart/check.go:33 Count → cart/cart.go Counter.Count (annotation)
cart/check.go:33 Counter → cart/cart.go Counter (package)
cart/outside_test.go:9 New → cart/cart.go New (import)
cart/outside_test.go:10 Add → cart/cart.go Cart.Add (return)
cart/outside_test.go:11 Total → cart/cart.go Cart.Total (return)
cart/outside_test.go:12 Show → internal/price/price.go Price.Show (return)
cart/outside_test.go:14 New → cart/cart.go New (import)
cmd/shop/main.go:10 Cart → cart/cart.go Cart (import)
cmd/shop/main.go:10 Item → cart/cart.go Item (import)
cmd/shop/main.go:13 New → cart/cart.go New (import)
cmd/shop/main.go:17 Add → cart/cart.go Cart.Add (return)
cmd/shop/main.go:17 Format → coin/format.go Format (import)
cmd/shop/main.go:17 Note → cart/cart.go Base.Note (return)
cmd/shop/main.go:18 Cart → cart/cart.go Cart (import)
cmd/shop/main.go:18 Total → cart/cart.go Cart.Total (annotation)
cmd/shop/main.go:18 run → cmd/shop/main.go run (scope)
cmd/shop/main.go:19 handler → cmd/shop/main.go handler (scope)
cmd/shop/main.go:23 Total → cart/cart.go Cart.Total (return)
cmd/shop/main.go:26 Cart → cart/cart.go Cart (import)
coin/format.go:5 Price → internal/price/price.go Price (import)
coin/format.go:5 format → coin/format_linux.go format (package)
internal/price/price.go:5 Price → internal/price/price.go Price (scope)
internal/price/price.go:7 Price → internal/price/price.go Price (scope)
internal/price/price.go:8 Price → internal/price/price.go Price (scope)
internal/price/price.go:9 Price → internal/price/price.go Price (scope)
internal/price/price.go:11 Currency → internal/price/price.go Currency (scope)
internal/price/price.go:11 Price → internal/price/price.go Price (scope)
internal/price/price.go:12 Currency → internal/price/price.go Currency (scope)
internal/price/price.go:13 Show → internal/price/price.go Price.Show (annotation)
internal/price/price.go:15 Show → internal/price/price.go Price.Show (annotation)
internal/price/price.go:17 Max → internal/price/price.go Max (scope)
internal/price/price.go:18 Show → internal/price/price.go Price.Show (return)
internal/price/price.go:19 Price → internal/price/price.go Price (scope)
internal/price/price.go:20 Show → internal/price/price.go Price.Show (annotation)
internal/price/price.go:21 Plus → internal/price/price.go Price.Plus (constructor)
internal/price/price.go:21 Price → internal/price/price.go Price (scope)
tools/gen.go:7 run → tools/gen.go run (scope)
"""

IMPORTS = """
cart/cart.go → coin/format.go
cart/cart.go → internal/price/price.go
cart/cart.go → local/tax/tax.go
cart/outside_test.go → cart/cart.go
cmd/shop/main.go → cart/cart.go
cmd/shop/main.go → coin/format.go
cmd/shop/main.go → internal/price/price.go
coin/format.go → internal/price/price.go
"""


def test_uses_of_go_lead_to_their_definitions() -> None:
    assert edges_of(SHOP) == set(USES.strip().split("\n"))


def test_imports_of_go_lead_to_the_files_that_are_used() -> None:
    assert imports_of(SHOP) == set(IMPORTS.strip().split("\n"))
