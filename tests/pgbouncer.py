"""PgBouncer in front of the server of the tests, in transaction mode: each transaction gets any of a few connections.

Its program is `pgbouncer`, or `$PICOMEM_TEST_PGBOUNCER`: `apt-get install pgbouncer`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.postgres_server import ROLE, make_folder, server_owner, shared_folder
from tests.waiting import wait_until

CONNECTIONS = 3  # to each database, fewer than a process of picomem wants


def program() -> str | None:
    """The program of PgBouncer; None where it is not installed."""
    return os.environ.get("PICOMEM_TEST_PGBOUNCER") or shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")


def pooled(address: str) -> str:
    """The address of the same store through the pool."""
    return f"postgresql://{ROLE}@/{conninfo_to_dict(address)['dbname']}?host={_folder()}"


@cache
def _folder() -> Path:
    """The folder of a running pool, with its socket in it."""
    command = program()
    if command is None:
        raise LookupError("There is no PgBouncer; install it or set PICOMEM_TEST_PGBOUNCER.")
    folder = make_folder()
    (folder / "users").write_text(f'"{ROLE}" ""\n')
    settings = {
        "listen_addr": "",
        "listen_port": "5432",
        "unix_socket_dir": str(folder),
        "auth_type": "trust",
        "auth_file": str(folder / "users"),
        "pool_mode": "transaction",
        "default_pool_size": str(CONNECTIONS),
        "max_client_conn": "400",
        "logfile": "",
    }
    lines = ["[databases]", f"* = host={shared_folder()}", "[pgbouncer]"]
    lines += [f"{name} = {value}" for name, value in settings.items()]
    (folder / "pgbouncer.ini").write_text("\n".join([*lines, ""]))
    for file in folder.iterdir():
        file.chmod(0o644)  # whatever the umask is: the pool may run as another user
    pool = subprocess.Popen(
        [command, "--quiet", str(folder / "pgbouncer.ini")], stderr=subprocess.DEVNULL, **server_owner()
    )
    atexit.register(_stop, pool, os.getpid())

    def answers() -> bool:
        assert pool.poll() is None, "PgBouncer ended by itself"
        try:
            psycopg.connect(f"postgresql://{ROLE}@/postgres?host={folder}", connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    wait_until(answers, seconds=30, otherwise="PgBouncer does not answer")
    return folder


def _stop(pool: subprocess.Popen[Any], owner: int) -> None:
    if os.getpid() == owner:
        pool.kill()
        pool.wait()
