"""Chunks → index: what to compute, keep and drop, and how it is written."""
