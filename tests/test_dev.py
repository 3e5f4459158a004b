"""`dev.py`: what it shows, and how it ends when something is wrong."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def dev(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, with the environment that runs the tests instead of one to make."""
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "BIN", Path(sys.executable).parent)
    monkeypatch.setattr(module, "make_environment", lambda: None)
    return module


def test_help_names_the_commands(dev: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main([]) == 0 and dev.main(["nonsense"]) == 2
    assert "python3 dev.py try" in capsys.readouterr().out


def test_an_interrupt_is_no_traceback(
    dev: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dev, "make_environment", interrupted)
    assert dev.main(["try"]) == 130 and dev.main(["test"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_folder_that_is_none_is_told_before_anything_is_installed(
    dev: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(dev, "make_environment")
    assert dev.main(["try", "no/such/folder"]) == 2
    assert capsys.readouterr().err == "'no/such/folder' is not a folder\n"


def test_packages_that_cannot_be_installed_are_told(dev: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code = "print('Collecting one==1'); print('ERROR: there is no such package'); raise SystemExit(1)"
    with pytest.raises(dev.subprocess.CalledProcessError):
        dev.install_locked([sys.executable, "-c", code])
    assert "ERROR: there is no such package" in capsys.readouterr().err


def test_a_try_shows_a_pack_and_what_to_type_next(
    dev: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(ROOT / "examples" / "shop", folder, ignore=shutil.ignore_patterns("_ctx"))
    assert dev.main(["try", str(folder)]) == 0
    shown = capfd.readouterr().out
    assert "$ satchel pack 'how does Basket work' --budget-tokens 1000" in shown
    assert "of 1000 o200k tokens" in shown and "class Basket:" in shown
    told = shown.partition("What to type next:\n")[2].splitlines()
    assert len(told) == 4 and all("satchel " in line for line in told)
