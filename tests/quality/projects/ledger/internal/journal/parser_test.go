package journal

import (
	"strings"
	"testing"
)

func TestAPostingBeforeTheFirstTransactionIsRefused(t *testing.T) {
	_, err := Parse(strings.NewReader("  cash  1.00 EUR\n"))
	if err == nil {
		t.Fatal("no error")
	}
}

func TestTheMissingAmountIsFilledIn(t *testing.T) {
	found, err := Parse(strings.NewReader("2024-01-02 Bread\n  food  2.50 EUR\n  cash\n"))
	if err != nil || found[0].Postings[1].Amount.Cents != -250 {
		t.Fatal(found, err)
	}
}
