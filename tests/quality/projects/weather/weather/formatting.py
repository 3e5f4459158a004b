"""A forecast as text."""

from weather.forecast import Day, Forecast
from weather.units import Units, temperature


def format_forecast(forecast: Forecast, units: Units) -> str:
    """One line for each day under the name of the place."""
    return "\n".join([forecast.place, *(format_day(day, units) for day in forecast.days)])


def format_day(day: Day, units: Units) -> str:
    umbrella = "  take an umbrella" if day.rain > 1.0 else ""
    return f"  {day.date}  {temperature(day.low, units)} to {temperature(day.high, units)}{umbrella}"
