"""Forecasts that were fetched a short while ago."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from weather.forecast import Forecast

MAX_AGE_SECONDS = 600


class ForecastCache:
    """Forecasts by place and days, each in a file of its own."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.now = now

    @classmethod
    def default(cls) -> "ForecastCache":
        return cls(Path.home() / ".cache" / "weather")

    def get_or_fetch(self, place: str, days: int, fetch: Callable[[], Forecast]) -> Forecast:
        """Return the cached forecast if it is young enough, else a fresh one."""
        file = self.folder / f"{place.lower()}-{days}.json"
        if file.exists() and self.now() - file.stat().st_mtime < MAX_AGE_SECONDS:
            return Forecast.from_dict(json.loads(file.read_text()))
        forecast = fetch()
        self.folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(forecast.to_dict()))
        return forecast
