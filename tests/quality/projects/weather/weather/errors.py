"""What can go wrong."""


class WeatherError(Exception):
    """The base of all errors that a user sees."""


class PlaceNotFound(WeatherError):
    """No provider knows the place."""


class RateLimited(WeatherError):
    """A provider has had too many requests; `retry_after` is in seconds."""

    def __init__(self, provider: str, retry_after: int) -> None:
        super().__init__(f"{provider} allows no more requests for {retry_after} s")
        self.retry_after = retry_after
