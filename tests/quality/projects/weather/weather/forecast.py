"""A forecast as all providers give it."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Day:
    """The weather of one day, in degrees Celsius and millimetres."""

    date: str
    low: float
    high: float
    rain: float


@dataclass(frozen=True)
class Forecast:
    """The days of one place."""

    place: str
    days: tuple[Day, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Forecast":
        return cls(data["place"], tuple(Day(**day) for day in data["days"]))
