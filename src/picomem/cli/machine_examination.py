"""The checks that `picomem doctor` adds on the command line: picomem's entries in the hosts of this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from picomem import paths
from picomem.errors import NoStore
from picomem.hosts.host_findings import host_findings
from picomem.hosts.machine import this_machine
from picomem.light_dataclass import replace
from picomem.operations.maintenance import DoctorRequest, DoctorResult, FindingView
from picomem.settings import load


def with_host_findings(result: DoctorResult, chosen: argparse.Namespace) -> DoctorResult:
    """The result with what is wrong in the hosts' settings."""
    findings = _host_findings(chosen)
    if not findings:
        return result
    return replace(result, healthy=False, findings=[*result.findings, *findings])


def host_findings_alone(request: DoctorRequest, chosen: argparse.Namespace, error: NoStore) -> DoctorResult:
    """The result where there is no store yet, perhaps because of what is wrong in the hosts' settings. Raises the error
    where nothing is."""
    findings = _host_findings(chosen)
    if not findings:
        raise error
    return DoctorResult(False, request.repair, {}, findings, [str(error)])


def _host_findings(chosen: argparse.Namespace) -> list[FindingView]:
    data = load().data
    named = paths.named_store(data.database)
    default = _place(named) if named else paths.database_path(data.dir)
    examined = _place(chosen.db) if chosen.db else default
    problems = host_findings(this_machine(), examined, default, is_named=bool(chosen.db))
    return [FindingView("host", problem, False) for problem in problems]


def _place(store: str) -> Path:
    """A store, as it is compared and named; the address of a server without its password."""
    return Path(paths.without_password(store)) if paths.is_server(store) else paths.database_file(store)
