"""How values pass between Python and PostgreSQL, so that both databases give and take the same ones.

SQLite's numbers are whole numbers of 64 bits or doubles, and a truth value is 0 or 1. Each value is sent with its type,
so a text never becomes a number by accident, as in the STRICT tables of SQLite. The sum of whole numbers, which
PostgreSQL gives as a decimal number, is a whole number again.
"""

from __future__ import annotations

from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper
from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader, NumericLoader
from psycopg.types.string import StrDumper


class _TruthDumper(Dumper):
    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _SumLoader(NumericLoader):
    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


class _BinarySumLoader(NumericBinaryLoader):
    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


def adapt(context: AdaptContext) -> None:
    """Let a connection send and read values so."""
    adapters = context.adapters
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _TruthDumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_loader("numeric", _SumLoader)
    adapters.register_loader("numeric", _BinarySumLoader)
