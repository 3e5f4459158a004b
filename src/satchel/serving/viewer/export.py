"""A pack, a review or an evaluation as one HTML file that stands alone, without a script; the same input
gives the same bytes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from satchel import ids
from satchel.commands.session import CallOptions
from satchel.errors import InvalidRequest
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.viewer import pack_page, quality_page, templating
from satchel.serving.viewer.page import CommandRefused, PageCalls, PageLinks, PageQuery

_PATIENT = CallOptions(max_reindex_ms=3_600_000)  # whoever writes a file waits for the index


def page_of(
    root: Path, index_dir: str, values: Mapping[str, str], saved: str = "", evaluation: str = ""
) -> str:
    """Return the HTML of what is asked for: a question or change in `values`, the text of a saved pack, or
    the file of a saved evaluation."""
    calls = PageCalls(Dispatcher(index_dir=index_dir), str(root), options=_PATIENT)
    query = PageQuery({name: [value] for name, value in values.items()})
    try:
        if evaluation:
            shown = quality_page.quality(calls, str(Path(evaluation).resolve()))
            return _file("export_quality.html", root, "Quality", shown)
        shown = _pack(calls, query, saved)
    except CommandRefused as refused:
        raise refused.as_error() from None
    return _file("export_pack.html", root, shown["pack"].query, shown)


def _pack(calls: PageCalls, query: PageQuery, saved: str) -> dict[str, Any]:
    """Return what the file shows of a pack."""
    if saved:
        return pack_page.saved_view(calls, saved)
    if not pack_page.is_asked(query):
        raise InvalidRequest(
            "there is nothing to write", hint='satchel view "a question" --html FILE, or --diff A..B'
        )
    pack = pack_page.make_pack(calls, query)
    return {"pack": pack, "bar": pack_page.budget_bar(pack), "files": pack_page.file_parts(pack)}


def _file(template: str, root: Path, heading: str, shown: Mapping[str, Any]) -> str:
    shared = {"heading": heading, "project": root.resolve().name, **_style()}
    return templating.render(template, PageLinks(), {**shown, **shared})


def _style() -> dict[str, object]:
    """Return the style sheet and the hash by which the file allows it, and nothing else."""
    style = templating.inline_style()
    digest = base64.b64encode(bytes.fromhex(ids.hash_text(style))).decode()
    return {"style": style, "style_hash": f"sha256-{digest}"}
