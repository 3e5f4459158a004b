"""The command line: flags made from each command's request, answers as text or JSON.

Nothing heavy is imported before a command is known; `--version` imports nothing at all.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

from satchel._version import __version__

DESCRIPTION = "Turn a repository into cited context for coding agents. Offline, deterministic, fast."
EPILOG = """examples:
  satchel search "where are sessions stored"        ask a question of the current folder
  satchel get src/app.py:10:24 docs/setup:15d1b6fd7c  fetch exact text by locator or id
  satchel refs SessionStore                          who calls, imports, extends this
  satchel map --budget-tokens 1000                   the repository at a glance
  satchel build && satchel prompt                    the three-layer pack, ready for a system prompt
  satchel install                                    let the agent clients of this machine use it

exit codes: 0 done, 1 a check found problems, 2 bad request, 3 not found, 4 index unusable,
5 index busy, 6 bad settings or a full disk, 7 not authorised, 8 out of time, 70 internal error"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code. Without arguments, take those of the process and end it."""
    code = _run(list(sys.argv[1:] if arguments is None else arguments))
    if arguments is None and "SATCHEL_DEBUG" not in os.environ:
        _leave(code)
    return code


def _run(given: list[str]) -> int:
    if given[:1] in (["--version"], ["-V"]):
        print(f"satchel {__version__}")
        return 0
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the whole process)
    gc.set_threshold(100_000)  # looking for cycles costs a tenth of a command that ends at once
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting numpy's threads costs more than a search
    return _guarded(_answer, given)


def _answer(given: list[str], description: str, epilog: str) -> int:
    """Have a running server answer, which has loaded everything; without one, answer here."""
    from satchel.serving.local_client import ask_running_server

    code = ask_running_server(given)
    if code is not None:
        return code
    from satchel.serving.cli_run import run_command

    return run_command(given, description, epilog)


def _leave(code: int) -> None:
    """End the process at once, unless a thread works: taking modules apart costs as much as a search."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # a stream that was closed for us is None
            stream.flush()
    except (OSError, ValueError):  # a closed pipe; the usual end says what there is to say
        return
    os._exit(code)


def _guarded(run: Any, given: list[str]) -> int:
    """Return the exit code of `run`: a closed pipe ends it quietly, a full disk and a defect are told."""
    try:
        code: int = run(given, DESCRIPTION, EPILOG)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _give_up_output()
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if "SATCHEL_DEBUG" in os.environ:
            raise
        if isinstance(error, OSError) and (refused := _refused_output(error)):
            return refused
        return _report_defect(error, as_json="--json" in given)


def _report_defect(error: Exception, *, as_json: bool) -> int:
    """Say that something went wrong that should not, also as an envelope, and return the exit code."""
    print(f"satchel: internal error: {type(error).__name__}: {error}", file=sys.stderr)
    print("  this is a defect; SATCHEL_DEBUG=1 shows where", file=sys.stderr)
    if as_json:
        from satchel.errors import Internal
        from satchel.serving.cli_output import CliOutput
        from satchel.serving.cli_run import print_error

        hint = "this is a defect; SATCHEL_DEBUG=1 shows where"
        print_error(Internal(f"internal error: {type(error).__name__}", hint=hint), CliOutput(), as_json=True)
    return 70


def _refused_output(error: OSError) -> int:
    """Say why the output cannot be written, and return the exit code; 0 if that is not what happened."""
    from satchel.file_writing import disk_trouble
    from satchel.serving.error_table import ERRORS

    refused = disk_trouble(error, "" if error.filename else "the output")
    if refused is None:
        return 0
    print(f"satchel: {refused.message}\n  {refused.hint}", file=sys.stderr)
    _give_up_output()
    return ERRORS[refused.code].exit


def _give_up_output() -> None:
    """Send what is still to be written nowhere: to try again at the end would only fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
