"""Where does the catalogue of a library live? A URL names its kind: `open_catalogue("postgresql://host/db")`.

The scheme of a URL is the name of a file in this folder (see `CatalogueScheme`). A plain path means the
SQLite catalogue in that folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from satchel import plugins, settings
from satchel.library.catalogue import Catalogue

_FOLDER_SCHEME = "sqlite"


def open_catalogue(place: str | os.PathLike[str] = "") -> Catalogue:
    """Return the catalogue that a URL or a folder names, or the user's own. Nothing is read or written."""
    written = os.fspath(place) or os.fspath(settings.library_folder())
    scheme, rest = plugins.by_url("catalogue", written)
    if scheme is None:
        scheme, rest = plugins.load("catalogue", _FOLDER_SCHEME), os.fspath(Path(written).expanduser())
    catalogue: Catalogue = scheme.open(rest)
    return catalogue
