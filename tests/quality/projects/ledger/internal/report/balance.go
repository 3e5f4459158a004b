package report

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"example.org/ledger/internal/journal"
	"example.org/ledger/internal/money"
)

// Balances adds up the postings of each account and of the accounts above it.
func Balances(transactions []journal.Transaction) (map[string]money.Amount, error) {
	totals := map[string]money.Amount{}
	for _, transaction := range transactions {
		for _, posting := range transaction.Postings {
			for _, account := range withParents(posting.Account) {
				sum, err := totals[account].Add(*posting.Amount)
				if err != nil {
					return nil, err
				}
				totals[account] = sum
			}
		}
	}
	return totals, nil
}

func withParents(account string) []string {
	parts := strings.Split(account, ":")
	found := make([]string, len(parts))
	for at := range parts {
		found[at] = strings.Join(parts[:at+1], ":")
	}
	return found
}

// WriteBalance prints a line for every account, sorted by name.
func WriteBalance(out io.Writer, transactions []journal.Transaction) error {
	totals, err := Balances(transactions)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(totals))
	for name := range totals {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(out, "%16s  %s\n", totals[name], name)
	}
	return nil
}
