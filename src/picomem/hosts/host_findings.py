"""Checks picomem's entries in the hosts of a machine; on the command line, `picomem doctor` reports the problems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from picomem import paths
from picomem.errors import InvalidInput, NoStore
from picomem.hosts.host import Host, Reach, SettingsFile
from picomem.hosts.host_entries import HookCommand, OwnEntries, own_entries
from picomem.hosts.known_hosts import HOSTS
from picomem.hosts.program import NAME, Machine, this_machine
from picomem.hosts.settings_files import read_settings
from picomem.light_dataclass import dataclass, field, replace
from picomem.operations.maintenance import DoctorRequest, DoctorResult, FindingView
from picomem.operations.presentation import plural
from picomem.settings import load


@dataclass(frozen=True, slots=True)
class InstalledEntry:
    """An MCP server, or the hook of an event, that runs picomem: where it stands, what it starts, on which store. The
    `matcher` of a hook chooses occasions of its event; empty for all."""

    host: Host
    reach: Reach
    path: Path
    name: str
    is_hook: bool
    program: str
    store: Path
    user: str
    matcher: str = ""

    @property
    def shown(self) -> str:
        """The entry, as a part of a sentence."""
        kind = f"{self.name} hook" if self.is_hook else f"MCP server “{self.name}”"
        return f"the {kind} of {self.host.title} in {self.path}"

    @property
    def remedy(self) -> str:
        """What corrects the entry: an install changes the hooks, and of the servers the one that it adds."""
        if not self.is_hook and self.name != NAME:
            return "remove the entry"
        scope = " --scope project" if self.reach == "project" else ""
        return f"`picomem install {self.host.name}{scope}` corrects it"


@dataclass(slots=True)
class HostReport:
    """The entries of a machine, and the sentences about files and hosts."""

    entries: list[InstalledEntry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def with_host_findings(examined: DoctorResult | NoStore, request: DoctorRequest, db: str | None) -> DoctorResult:
    """The result with what is wrong in the hosts' settings. Where there is no store yet, that may be the reason, and is
    the result alone; where nothing is wrong, NoStore is raised."""
    findings = _findings(db)
    if not isinstance(examined, NoStore):
        return replace(examined, healthy=examined.healthy and not findings, findings=[*examined.findings, *findings])
    if not findings:
        raise examined
    return DoctorResult(False, request.repair, {}, findings, [str(examined)])


def _findings(db: str | None) -> list[FindingView]:
    data = load().data
    named = paths.named_store(data.database)
    default = _place(named) if named else paths.database_path(data.dir)
    examined = _place(db) if db else default
    problems = host_findings(this_machine(), examined, default, is_named=bool(db))
    return [FindingView("host", problem, False) for problem in problems]


def _place(store: str) -> Path:
    """A store, as it is compared and named; the address of a server without its password."""
    return Path(paths.without_password(store)) if paths.is_server(store) else paths.database_file(store)


def host_findings(machine: Machine, examined: Path, default: Path, *, is_named: bool) -> list[str]:
    """Return the problems, one sentence each, with the remedy. Only reads.

    `examined` is the store that the doctor examines, `default` the one that is opened if none is named. A store that
    `is_named`, perhaps a copy, has nothing to do with the hosts unless some entry is for it.
    """
    report = HostReport()
    for host in HOSTS:
        for reach, files in host.reached_files(machine):
            _read(host, reach, files, default, report)
    entries = report.entries
    if is_named and not any(_is_same(entry.store, examined) for entry in entries):
        return []
    repeated, others = _repeated(entries), _other_stores(entries, examined)
    return [*report.problems, *_missing_programs(entries, machine), *repeated, *others]


def _read(host: Host, reach: Reach, files: Sequence[SettingsFile], default: Path, report: HostReport) -> None:
    texts: dict[Path, str] = {}
    hooks: list[tuple[Path, HookCommand]] = []
    for file in files:
        try:
            text = read_settings(file.path) or ""
            own = own_entries(text, file)
        except InvalidInput as error:
            reason = str(error).rstrip(".")
            remedy = "" if ";" in reason else "; mend the file"
            report.problems.append(f"{file.path} of {host.title} cannot be read: {reason}{remedy}")
            continue
        texts[file.path] = text
        hooks += [(file.path, hook) for hook in own.hooks]
        report.entries += _entries(host, reach, file, own, default)
    if hooks and (count := host.untrusted(texts, hooks)):
        report.problems.append(
            f"{host.title} skips {plural(count, 'hook', 'hooks')} of picomem in {hooks[0][0]}, because you have not "
            f"trusted what runs there; start {host.title}, which asks, or type /hooks in it"
        )


def _entries(host: Host, reach: Reach, file: SettingsFile, own: OwnEntries, default: Path) -> Iterator[InstalledEntry]:
    for server in own.servers:
        store, user = _store_of(server.words, server.env, default)
        yield InstalledEntry(host, reach, file.path, server.name, False, server.words[0], store, user)
    for hook in own.hooks:
        store, user = _store_of(hook.words, hook.env, default)
        matcher = "" if hook.is_for_all else hook.matcher or ""
        yield InstalledEntry(host, reach, file.path, hook.event, True, hook.words[0], store, user, matcher)


def _store_of(words: Sequence[str], env: dict[str, str], default: Path) -> tuple[Path, str]:
    """The store that a command opens, and the user."""
    options = dict(pairwise(words))
    store = options.get("--db") or env.get("PICOMEM_DB")
    if not store and (folder := env.get("PICOMEM_DATA_DIR")):
        store = f"{folder}/picomem.db"
    if store and paths.is_server(store):
        return Path(paths.without_password(store)), options.get("--user", "")
    return Path(store).expanduser() if store else default, options.get("--user", "")


def _missing_programs(entries: Sequence[InstalledEntry], machine: Machine) -> Iterator[str]:
    """Report a program once, even if several hooks of a file start it."""
    gone: dict[tuple[Path, str, str], list[InstalledEntry]] = defaultdict(list)
    for entry in entries:
        path = Path(entry.program).expanduser()
        if not (path.is_file() if path.is_absolute() else machine.has_program(entry.program)):
            gone[entry.path, entry.program, "" if entry.is_hook else entry.name].append(entry)
    for (path, program, _), several in gone.items():
        first = several[0]
        what = first.shown if len(several) == 1 else f"the {len(several)} hooks of {first.host.title} in {path}"
        yield f"{what} cannot start, because there is no program {program}; {first.remedy}"


def _repeated(entries: Sequence[InstalledEntry]) -> Iterator[str]:
    """Two entries of a host that do the same. A server of the project takes the place of the user's of that name."""
    same: dict[tuple[str, str, str, Path, str], list[InstalledEntry]] = defaultdict(list)
    for entry in entries:
        kind = entry.name if entry.is_hook else ""
        several = same[entry.host.name, kind, entry.matcher, _resolved(entry.store), entry.user]
        if entry.is_hook or all(other.name != entry.name for other in several):
            several.append(entry)
    for several in same.values():
        if len(several) > 1:
            places = " and ".join(entry.shown for entry in several)
            is_one_file = several[0].is_hook and len({entry.path for entry in several}) == 1
            remedy = several[0].remedy if is_one_file else "remove one of them"
            yield f"{places} are for the same store, so the agent gets the same twice; {remedy}"


def _other_stores(entries: Sequence[InstalledEntry], examined: Path) -> Iterator[str]:
    other: dict[tuple[str, str, Path], InstalledEntry] = {}
    for entry in entries:
        if not _is_same(entry.store, examined):
            other.setdefault((entry.host.name, "" if entry.is_hook else entry.name, entry.store), entry)
    for (_, _, store), entry in other.items():
        yield (f"{entry.shown} uses another store, {store}, and not {examined}; if that is wrong, {entry.remedy}")


def _is_same(store: Path, other: Path) -> bool:
    return _resolved(store) == _resolved(other)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except ValueError:  # no file can have such a name
        return path
