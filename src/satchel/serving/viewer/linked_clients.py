"""Which agent clients of this machine are linked to a folder? As `satchel doctor` says it."""

from __future__ import annotations

from satchel.errors import SatchelError
from satchel.serving.installing import doctor_checks, launch
from satchel.serving.installing.doctor_checks import DoctorCheck


def linked_clients(root: str) -> list[DoctorCheck]:
    """Return the checks of every known client, in its order; none where the folder is gone."""
    try:
        machine = launch.current_machine(root)
        return [
            check for client in launch.all_clients() for check in doctor_checks.check_client(client, machine)
        ]
    except SatchelError:
        return []
