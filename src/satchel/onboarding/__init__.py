"""A repository → the first page for a newcomer."""

from satchel.onboarding.facts import RepositoryReader
from satchel.onboarding.page import FirstPage, onboarding_page

__all__ = ["FirstPage", "RepositoryReader", "onboarding_page"]
