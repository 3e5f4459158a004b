"""A change → the pack that its reviewer needs."""

from satchel.reviewing.review import MODE, Review

__all__ = ["MODE", "Review"]
