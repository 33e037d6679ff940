"""The standard library's SQLite without its adapters for dates: these load ``datetime``, 3 ms at each start."""

from _sqlite3 import (
    SQLITE_BUSY,
    SQLITE_CANTOPEN,
    SQLITE_FULL,
    SQLITE_IOERR,
    SQLITE_LOCKED,
    SQLITE_PERM,
    SQLITE_READONLY,
    Connection,
    DatabaseError,
    Error,
    OperationalError,
    complete_statement,
    connect,
)

__all__ = [
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_PERM",
    "SQLITE_READONLY",
    "Connection",
    "DatabaseError",
    "Error",
    "OperationalError",
    "complete_statement",
    "connect",
]
