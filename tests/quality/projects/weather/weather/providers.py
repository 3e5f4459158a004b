"""Where forecasts come from, in the order in which they are asked."""

from collections.abc import Sequence
from typing import Protocol

import httpx

from weather.errors import PlaceNotFound, RateLimited, WeatherError
from weather.forecast import Day, Forecast


class Provider(Protocol):
    """A service that forecasts the weather."""

    name: str

    def forecast(self, place: str, days: int) -> Forecast: ...


class OpenSky:
    """A service that needs no key."""

    name = "opensky"
    url = "https://opensky.example/v1/forecast"

    def forecast(self, place: str, days: int) -> Forecast:
        response = httpx.get(self.url, params={"place": place, "days": days}, timeout=5.0)
        if response.status_code == 404:
            raise PlaceNotFound(f"{place} is not known to {self.name}")
        if response.status_code == 429:
            raise RateLimited(self.name, int(response.headers.get("retry-after", 60)))
        response.raise_for_status()
        return Forecast(place, tuple(Day(**day) for day in response.json()["days"]))


PROVIDERS: Sequence[Provider] = (OpenSky(),)


def first_answer(providers: Sequence[Provider], place: str, days: int) -> Forecast:
    """Ask one provider after the other until one answers."""
    failure: Exception = WeatherError("there is no provider")
    for provider in providers:
        try:
            return provider.forecast(place, days)
        except (WeatherError, httpx.HTTPError) as error:
            failure = error
    raise WeatherError(f"no provider answers: {failure}") from failure
