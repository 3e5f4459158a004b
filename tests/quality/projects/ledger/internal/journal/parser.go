package journal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ledger/internal/money"
)

const dateLayout = "2006-01-02"

// ParseError tells the line of a journal that cannot be read.
type ParseError struct {
	Line   int
	Reason string
}

func (e ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Parse reads all transactions of a journal and checks that each one balances.
func Parse(source io.Reader) ([]Transaction, error) {
	var found []Transaction
	scanner := bufio.NewScanner(source)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, " "):
			if len(found) == 0 {
				return nil, ParseError{number, "a posting stands before the first transaction"}
			}
			posting, err := parsePosting(line)
			if err != nil {
				return nil, ParseError{number, err.Error()}
			}
			last := &found[len(found)-1]
			last.Postings = append(last.Postings, posting)
		default:
			transaction, err := parseHead(line)
			if err != nil {
				return nil, ParseError{number, err.Error()}
			}
			found = append(found, transaction)
		}
	}
	for at := range found {
		if err := found[at].Balance(); err != nil {
			return nil, err
		}
	}
	return found, scanner.Err()
}

func parseHead(line string) (Transaction, error) {
	date, description, _ := strings.Cut(line, " ")
	day, err := time.Parse(dateLayout, date)
	return Transaction{Date: day, Description: strings.TrimSpace(description)}, err
}

func parsePosting(line string) (Posting, error) {
	account, amount, given := strings.Cut(strings.TrimSpace(line), "  ")
	if !given {
		return Posting{Account: account}, nil
	}
	parsed, err := money.ParseAmount(amount)
	return Posting{Account: account, Amount: &parsed}, err
}
