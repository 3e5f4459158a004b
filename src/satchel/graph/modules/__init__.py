"""How does an import find its files? One file for each way that languages have."""
