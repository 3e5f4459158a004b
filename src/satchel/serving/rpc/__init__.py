"""The Command API over gRPC: its published contract, and the server behind it."""

from __future__ import annotations

import os

# Read when grpc is imported, so it stands here: callers' mistakes are told to them, not to the screen.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
