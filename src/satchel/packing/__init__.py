"""Hits and chunks → packs inside a budget."""
