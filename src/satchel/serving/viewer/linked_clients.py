"""Which agent clients of this machine are linked to a folder? As `satchel doctor` says it."""

from __future__ import annotations

import msgspec

from satchel.errors import SatchelError
from satchel.serving.installing import doctor_checks, launch
from satchel.serving.installing.doctor_checks import DoctorCheck


class LinkedClients(msgspec.Struct, frozen=True):
    """The checks of the clients that are on this machine, and the names of those that are not."""

    checks: list[DoctorCheck] = []
    absent: list[str] = []


def linked_clients(root: str) -> LinkedClients:
    """Return how every known client stands to a folder; nothing where the folder is gone."""
    try:
        machine = launch.current_machine(root)
    except SatchelError:
        return LinkedClients()
    known = launch.all_clients()
    there = [client for client in known if launch.is_installed(client, machine)]
    checks = [check for client in there for check in doctor_checks.check_client(client, machine)]
    return LinkedClients(checks, [client.label for client in known if client not in there])
