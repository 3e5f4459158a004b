package journal

import (
	"fmt"
	"time"

	"example.org/ledger/internal/money"
)

// Posting moves an amount to an account; a nil amount is what the others leave over.
type Posting struct {
	Account string
	Amount  *money.Amount
}

// Transaction is a dated set of postings that add up to zero.
type Transaction struct {
	Date        time.Time
	Description string
	Postings    []Posting
}

// Balance fills in the one posting without an amount, or says that the postings do not add up.
func (t *Transaction) Balance() error {
	var total money.Amount
	open := -1
	for at, posting := range t.Postings {
		if posting.Amount == nil {
			if open >= 0 {
				return fmt.Errorf("%s: two postings have no amount", t.Description)
			}
			open = at
			continue
		}
		sum, err := total.Add(*posting.Amount)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Description, err)
		}
		total = sum
	}
	if open >= 0 {
		t.Postings[open].Amount = &money.Amount{Cents: -total.Cents, Currency: total.Currency}
		return nil
	}
	if total.Cents != 0 {
		return fmt.Errorf("%s: off by %s", t.Description, total)
	}
	return nil
}
