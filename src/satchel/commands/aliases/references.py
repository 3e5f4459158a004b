"""`references`: `refs` under the name that its agent tool has."""

from __future__ import annotations

import msgspec

from satchel.commands import refs

COMMAND = msgspec.structs.replace(refs.COMMAND, name="references", tool="")
