"""`search_context`: `search` under the name that agents of three-layer packs know."""

from __future__ import annotations

from satchel.commands import search
from satchel.commands.command import Command

COMMAND = Command("search_context", search.SearchRequest, search.SearchResponse, search.run)
