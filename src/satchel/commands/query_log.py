"""A log of the questions asked, kept beside the index if the user wants one. Nothing is sent anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from satchel.engine import Engine


def record(engine: Engine, action: str, payload: dict[str, Any], data: Any, started: float) -> None:
    """Note a question and what became of it."""
