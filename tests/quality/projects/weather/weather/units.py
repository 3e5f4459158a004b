"""Degrees of either kind."""

from enum import Enum


class Units(Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


def to_fahrenheit(celsius: float) -> float:
    return celsius * 9 / 5 + 32


def temperature(celsius: float, units: Units) -> str:
    """A temperature with its unit, rounded to whole degrees."""
    if units is Units.IMPERIAL:
        return f"{to_fahrenheit(celsius):.0f} °F"
    return f"{celsius:.0f} °C"
