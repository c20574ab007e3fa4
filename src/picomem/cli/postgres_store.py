"""`picomem postgres init`: make a store on a server, before anybody stores something.

Any command that stores makes the tables on a server by itself. This is for whoever runs the servers: it makes them for
the role that owns them, and with `--citus` among several machines.
"""

from __future__ import annotations

import argparse

from picomem import paths
from picomem.app import make_server_store
from picomem.cli.run import print_json, write_result
from picomem.errors import InvalidInput
from picomem.operations.presentation import plural
from picomem.settings import load
from picomem.store.connector import CitusChoice
from picomem.text.inert_text import for_terminal

_MOST_SHARDS = 4096  # more would take hours, in one transaction


def run_postgres(chosen: argparse.Namespace) -> int:
    """Make the store, and print how it is divided."""
    address = chosen.db or paths.named_store(load().data.database)
    if not paths.is_server(address):
        raise InvalidInput("A store on a server is named by its address; write --db postgresql://USER@HOST/DATABASE.")
    if chosen.shards is not None and not chosen.citus:
        raise InvalidInput("Only Citus divides tables into shards; add --citus, or leave out --shards.")
    if chosen.shards is not None and not 1 <= chosen.shards <= _MOST_SHARDS:
        raise InvalidInput(f"--shards is {chosen.shards}; it must be between 1 and {_MOST_SHARDS}.")
    made = make_server_store(address, CitusChoice(chosen.shards or 0) if chosen.citus else None)
    if chosen.json:
        print_json(made)
        return 0
    divided = (
        f", each of its tables in {plural(made.shards, 'shard')} on {plural(made.machines, 'machine')}"
        if made.shards
        else ""
    )
    write_result(for_terminal(f"{made.store}: the store is ready{divided}."))
    return 0
