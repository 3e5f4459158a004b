"""What the caller of a flat pack may prefer."""

from __future__ import annotations

import msgspec

from satchel.types import RelatedMode, Strategy


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller of a flat pack prefers; where None is allowed, the query decides."""

    prefer_code: bool | None = None
    include_docs: bool = True
    related_mode: RelatedMode | None = None
    strategy: Strategy = Strategy.EXTENDED
    limit: int = 10
    max_related_per_primary: int = 3
    anchors: bool = True
