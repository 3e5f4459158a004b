"""The command line."""

import argparse
import sys

from weather.cache import ForecastCache
from weather.errors import WeatherError
from weather.formatting import format_forecast
from weather.providers import PROVIDERS, first_answer
from weather.units import Units


def main(arguments: list[str] | None = None) -> int:
    """Print a forecast; returns the exit code."""
    parser = argparse.ArgumentParser(prog="weather")
    parser.add_argument("place")
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--units", choices=[unit.value for unit in Units], default=Units.METRIC.value)
    options = parser.parse_args(arguments)
    cache = ForecastCache.default()
    try:
        forecast = cache.get_or_fetch(
            options.place, options.days, lambda: first_answer(PROVIDERS, options.place, options.days)
        )
    except WeatherError as error:
        print(f"weather: {error}", file=sys.stderr)
        return 1
    print(format_forecast(forecast, Units(options.units)))
    return 0
