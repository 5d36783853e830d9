"""The state of a run in SQLite: plan, attempts, results. Whatever is committed survives a kill at any moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nanobench.errors import Refused
from nanobench.formats.documents import dump_json, read_json
from nanobench.model.result import Attempt, Cell, CellResult, RunManifest

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY CHECK (id = 1), manifest BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS attempt (
    cell TEXT NOT NULL, number INTEGER NOT NULL, document BLOB NOT NULL, PRIMARY KEY (cell, number)
);
CREATE TABLE IF NOT EXISTS result (cell TEXT PRIMARY KEY, document BLOB NOT NULL);
"""


class RunState:
    """One run's database. A planned cell without a result is pending; "has an attempt" is not "done"."""

    def __init__(self, path: Path, manifest: RunManifest) -> None:
        """Open or create it.

        Raises:
            Refused: ``NB_RUN_DIFFERS`` when the file holds the state of another plan.
        """
        self.path, self.manifest = path, manifest
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._connection() as connection:
            connection.executescript(_SCHEMA)
            connection.execute("INSERT OR IGNORE INTO run VALUES (1, ?)", (dump_json(manifest),))
        if self._stored_manifest() != manifest:
            raise Refused(
                "NB_RUN_DIFFERS",
                "holds a run of another plan (other locks, provider, models, modes or repeats)",
                where=str(path),
                hint="choose another --out, or give the same arguments to go on with it",
            )

    def pending(self) -> tuple[Cell, ...]:
        """The planned cells that have no result yet, in the plan's order."""
        with self._connection() as connection:
            done = {row[0] for row in connection.execute("SELECT cell FROM result")}
        return tuple(cell for cell in self.manifest.cells if cell.id not in done)

    def attempts(self, cell: Cell) -> tuple[Attempt, ...]:
        """Every attempt recorded for a cell, oldest first."""
        with self._connection() as connection:
            rows = connection.execute("SELECT document FROM attempt WHERE cell = ? ORDER BY number", (cell.id,))
            return tuple(read_json(row[0], Attempt, where=f"{self.path}: {cell.id}") for row in rows)

    def record_attempt(self, cell: Cell, attempt: Attempt) -> None:
        """Keep an attempt; none is ever overwritten."""
        with self._connection() as connection:
            connection.execute("INSERT INTO attempt VALUES (?, ?, ?)", (cell.id, attempt.number, dump_json(attempt)))

    def finish(self, result: CellResult) -> None:
        """Keep a cell's result; a cell finishes once."""
        with self._connection() as connection:
            connection.execute("INSERT INTO result VALUES (?, ?)", (result.cell.id, dump_json(result)))

    def results(self) -> tuple[CellResult, ...]:
        """The results so far, in the plan's order."""
        with self._connection() as connection:
            rows = dict(connection.execute("SELECT cell, document FROM result").fetchall())
        return tuple(
            read_json(rows[cell.id], CellResult, where=f"{self.path}: {cell.id}")
            for cell in self.manifest.cells
            if cell.id in rows
        )

    def remove(self) -> None:
        """Remove the files of the state, when the bundle holds everything."""
        for suffix in ("-wal", "-shm", ""):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _stored_manifest(self) -> RunManifest:
        with self._connection() as connection:
            (data,) = connection.execute("SELECT manifest FROM run").fetchone()
        return read_json(data, RunManifest, where=str(self.path))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self.path, timeout=60)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise Refused("NB_RUN_STATE", f"not a usable state file: {error}", where=str(self.path)) from error
