package main

import (
	"fmt"
	"os"

	"example.org/ledger/internal/journal"
	"example.org/ledger/internal/report"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ledger balance|check FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

func run(command, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	transactions, err := journal.Parse(file)
	if err != nil {
		return err
	}
	switch command {
	case "balance":
		return report.WriteBalance(os.Stdout, transactions)
	case "check":
		return nil
	}
	return fmt.Errorf("unknown command %q", command)
}
