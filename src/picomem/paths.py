"""Where picomem keeps its files, and how private they are: folders 0700, files 0600."""

from __future__ import annotations

import os
from pathlib import Path

from picomem.errors import InvalidInput


def data_dir() -> Path:
    """The data directory: `$PICOMEM_DATA_DIR`, or the platform's own place for a user's data."""
    chosen = os.environ.get("PICOMEM_DATA_DIR")
    if chosen:
        return Path(chosen).expanduser()
    # platformdirs costs 20 ms to import, and on Linux its answer is this one line.
    if os.name == "posix" and os.uname().sysname == "Linux":
        base = os.environ.get("XDG_DATA_HOME")
        return (Path(base) if base else Path.home() / ".local" / "share") / "picomem"
    import platformdirs

    return Path(platformdirs.user_data_dir("picomem", appauthor=False))


def named_database() -> str:
    """The database that the environment names (`$PICOMEM_DB`); empty where it names none."""
    return os.environ.get("PICOMEM_DB", "")


def database_path(folder: str = "") -> Path:
    """The database: `$PICOMEM_DB`; or `picomem.db` in `folder`, or where none is given in the data directory."""
    named = named_database()
    if named:
        return Path(named).expanduser()
    return (Path(folder).expanduser() if folder else data_dir()) / "picomem.db"


def make_private_dir(folder: Path) -> None:
    """Create `folder` and what is missing above it, readable by its owner alone."""
    missing = [folder, *folder.parents]
    for step in reversed([p for p in missing if not p.exists()]):
        step.mkdir(mode=0o700, exist_ok=True)
        step.chmod(0o700)  # mkdir's mode is narrowed by the umask, never widened; a umask of 777 would lock us out


def private_umask() -> None:
    """Make every file that this process creates from now on private (SQLite's -wal and -shm among them)."""
    os.umask(0o077)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new, never a part. Raises InvalidInput."""
    spare = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        spare.write_text(text, "utf-8")
        spare.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from error
