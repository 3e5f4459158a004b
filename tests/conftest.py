"""Options and fixtures that every test may use, and one more store than Satchel comes with."""

from __future__ import annotations

import os

import builders
import postgres_server
import pytest
from hypothesis import settings

import satchel.storage

# A busy machine is slow, and that is no failure. `benchmarks/faulting/fuzzing.py` tries more examples.
settings.register_profile("busy", deadline=None, max_examples=40)
settings.load_profile("busy")
satchel.storage.__path__.append(str(builders.PLUGGED_STORES))
# Tests start hundreds of processes. Where this is set, each of them compiles the package: half of a search.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")
    parser.addoption("--store", default="", metavar="SCHEME:", help="keep every index in this kind of store")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def default_store(request: pytest.FixtureRequest) -> None:
    """Of a test that tells of the file of the default store: another one has no such file."""
    if request.config.getoption("--store"):
        pytest.skip("tells of the file of the default store")


@pytest.fixture(autouse=True, scope="session")
def chosen_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With `--store toy:` every index that is given no place of its own is kept in such a store."""
    scheme = request.config.getoption("--store")
    if scheme:
        home = postgres_server.store_place(scheme.rstrip(":"), tmp_path_factory.mktemp("home")).rstrip("/")
        builders.STORE_ENVIRONMENT.update({"SATCHEL_HOME": home, **builders.with_plugged_stores()})
        os.environ.update(builders.STORE_ENVIRONMENT)
