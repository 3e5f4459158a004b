// Package money counts in hundredths, because floating point loses cents.
package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrCurrency says that amounts of two currencies were added.
var ErrCurrency = errors.New("amounts have different currencies")

// Amount is a sum of money in one currency.
type Amount struct {
	Cents    int64
	Currency string
}

// ParseAmount reads an amount such as "-12.50 EUR".
func ParseAmount(text string) (Amount, error) {
	number, currency, found := strings.Cut(strings.TrimSpace(text), " ")
	if !found {
		return Amount{}, fmt.Errorf("%q names no currency", text)
	}
	whole, part, _ := strings.Cut(number, ".")
	for len(part) < 2 {
		part += "0"
	}
	cents, err := strconv.ParseInt(whole+part[:2], 10, 64)
	if err != nil {
		return Amount{}, fmt.Errorf("%q is no amount", text)
	}
	return Amount{cents, strings.TrimSpace(currency)}, nil
}

// Add returns the sum of two amounts of one currency.
func (a Amount) Add(b Amount) (Amount, error) {
	if a.Currency != b.Currency && a.Cents != 0 && b.Cents != 0 {
		return Amount{}, ErrCurrency
	}
	if a.Cents == 0 {
		a.Currency = b.Currency
	}
	return Amount{a.Cents + b.Cents, a.Currency}, nil
}

// String writes an amount as it is read.
func (a Amount) String() string {
	sign, cents := "", a.Cents
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, cents/100, cents%100, a.Currency)
}
