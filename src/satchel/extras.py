"""What an extra of the distribution installs, and the one error for an extra that is not installed.

The core of Satchel (index, search, pack and every other command line question) needs no extra. Servers, the
watcher and tokenizer files of Hugging Face need packages that `pip install 'satchel-context[EXTRA]'` brings.
"""

from __future__ import annotations

from importlib.util import find_spec

from satchel.errors import Unsupported

DISTRIBUTION = "satchel-context"

# extra -> the modules that Satchel imports from its packages; `serve` is all servers and what watches files
MODULES = {
    "grpc": ("grpc", "grpc_health", "grpc_reflection", "google.protobuf"),
    "http": ("jinja2", "prometheus_client", "starlette", "uvicorn"),
    "huggingface": ("tokenizers",),
    "library": ("distributed", "psycopg"),
    "oidc": ("jwt", "cryptography"),
    "mcp": ("anyio", "mcp", "mcp_types", "starlette", "uvicorn"),
    "serve": ("watchfiles",),
}


def require(extra: str, purpose: str) -> None:
    """Raise `Unsupported` with the command that installs `extra` if one of its packages is not installed."""
    missing = [module for module in MODULES[extra] if not _is_installed(module)]
    if missing:
        raise Unsupported(
            f"{purpose} needs packages that are not installed: {', '.join(missing)}",
            hint=install_command(extra),
            details={"extra": extra, "missing": missing},
        )


def install_command(extra: str) -> str:
    """Return the command that adds `extra` to an environment that has Satchel."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def is_installed(extra: str) -> bool:
    """Return whether all packages of `extra` are installed."""
    return all(map(_is_installed, MODULES[extra]))


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False
