from pathlib import Path

from weather.cache import ForecastCache
from weather.forecast import Forecast


def test_a_young_forecast_is_not_fetched_again(tmp_path: Path) -> None:
    cache = ForecastCache(tmp_path)
    fetched = []

    def fetch() -> Forecast:
        fetched.append(1)
        return Forecast("Lisbon", ())

    cache.get_or_fetch("Lisbon", 1, fetch)
    cache.get_or_fetch("Lisbon", 1, fetch)
    assert fetched == [1]
