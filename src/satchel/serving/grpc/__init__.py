"""The gRPC server: the Command API over gRPC, its published contract, health and reflection."""

from __future__ import annotations

import os

# grpc reads this when it is imported. Errors of callers are sent to them and not printed.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
