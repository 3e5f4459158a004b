"""Options and fixtures that every test may use."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("busy", deadline=None)  # a busy machine is slow, and that is no failure
settings.load_profile("busy")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
