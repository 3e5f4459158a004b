"""What libraries load for those who read about them, and no command needs.

For a process that is one command: loading these modules takes as long as answering a question.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_LIBRARY = "numpy"
# module -> the names that others take from it while they are loaded, with something that does for each
_SPARED: dict[str, dict[str, Any]] = {
    "numpy._core._add_newdocs": {},  # docstrings
    "numpy._core._add_newdocs_scalars": {},
    "numpy._typing": {"NDArray": list},  # annotations
}


class _Spared(ModuleType):
    """Stands for a module. Whoever asks it for more than is known to do gets the real one."""

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        real = importlib.import_module(self.__name__)
        self.__dict__.update(vars(real))
        return getattr(real, attribute)


class _Sentry:
    """Asked for every module before it is looked for; when the library comes, so do the stand-ins."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> None:
        if name != _LIBRARY:
            return
        sys.meta_path.remove(cls)
        for spared, known in _SPARED.items():
            sys.modules[spared] = module = _Spared(spared)
            vars(module).update(known)


def spare_modules() -> None:
    """From now on these modules are loaded only if something in them is really needed."""
    if _LIBRARY not in sys.modules and _Sentry not in sys.meta_path:
        sys.meta_path.insert(0, _Sentry)


@contextmanager
def unloaded(name: str) -> Iterator[None]:
    """Whoever would load that module meanwhile, and can do without it, does."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
