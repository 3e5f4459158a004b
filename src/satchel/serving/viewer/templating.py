"""Templates → HTML: one environment with automatic escaping, and the few functions that templates call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from satchel import ids
from satchel._version import __version__
from satchel.rendering.visible import one_line
from satchel.serving.viewer.page import PageLinks
from satchel.wording import counted

_FOLDER = Path(__file__).parent
ASSETS = {"viewer.css": "text/css", "viewer.js": "text/javascript", "icon.svg": "image/svg+xml"}
_SHORT = 12  # digits of a commit
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


@cache
def environment() -> jinja2.Environment:
    """Return the environment of all templates."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "count": _number,
        "counted": counted,
        "size": _size,
        "short": _short,
        "line": one_line,
        "words": _words,
        "path": _path,
    }
    made.globals |= {"version": __version__, "asset": asset_url}
    return made


def render(template: str, links: PageLinks, values: Mapping[str, Any]) -> str:
    """Return a template filled with values."""
    return environment().get_template(template).render(**values, links=links)


@cache
def asset(name: str) -> bytes:
    """Return the content of an asset."""
    return (_FOLDER / "assets" / name).read_bytes()


@cache
def asset_url(name: str) -> str:
    """Return the address of an asset, which changes with its content."""
    return f"/assets/{name}?v={ids.hash_bytes(asset(name))[:_SHORT]}"


def inline_style() -> Markup:
    """Return the style sheet as part of a file that stands alone."""
    return Markup(asset("viewer.css").decode())


def _number(value: float) -> str:
    return f"{value:,}"


def _size(count: int) -> str:
    """Return a number of bytes in the unit that people read."""
    unit, size = next(((unit, size) for unit, size in _UNITS if count >= size), ("B", 1.0))
    return f"{count / size:.1f} {unit}" if size > 1 else f"{count} B"


def _short(ref: str) -> str:
    """Return a commit by its first digits."""
    return ref[:_SHORT] if len(ref) >= 40 else ref


def _path(path: str) -> Markup:
    """Return a path that may be broken after its folders, and nowhere else if that is enough."""
    return Markup("/<wbr>").join(one_line(path).split("/"))


def _words(name: str) -> str:
    """Return a name of a field as words."""
    return name.replace("_", " ")
