"""The state of a run: a folder beside its bundle-to-be, with plan, attempts and results in SQLite.

Whatever is committed survives a kill at any moment, and everything that a killed run leaves outside of the store is
in this folder: the same run goes on with it, and it goes when the bundle is published.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

from nanobench.errors import MachineFailure, Refused
from nanobench.formats.documents import dump_json, read_json
from nanobench.model.result import Attempt, Cell, CellResult, RunManifest
from nanobench.store.files import abandoned, held, remove_tree

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY CHECK (id = 1), manifest BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS attempt (
    cell TEXT NOT NULL, number INTEGER NOT NULL, document BLOB NOT NULL, PRIMARY KEY (cell, number)
);
CREATE TABLE IF NOT EXISTS result (cell TEXT PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS payment (amount TEXT NOT NULL);
"""


class RunState:
    """One run's folder. A planned cell without a result is pending; "has an attempt" is not "done"."""

    def __init__(self, folder: Path, manifest: RunManifest) -> None:
        """Open or create it.

        Raises:
            Refused: ``NB_RUN_DIFFERS`` when the folder holds the state of another plan.
        """
        self.folder, self.manifest = folder, manifest
        self._database = folder / "run.sqlite"
        folder.mkdir(parents=True, exist_ok=True)
        with self._connection() as connection:
            connection.executescript(_SCHEMA)
            connection.execute("INSERT OR IGNORE INTO run VALUES (1, ?)", (dump_json(manifest),))
        if self._stored_manifest() != manifest:
            raise Refused(
                "NB_RUN_DIFFERS",
                "holds a run of another plan (another axis, lock, budget or price)",
                where=str(folder),
                hint="choose another --out, or give the same arguments to go on with it",
            )

    @staticmethod
    def place(bundle: Path) -> Path:
        """The folder of the run whose bundle will be ``bundle``."""
        return bundle.with_name(bundle.name + ".state")

    @property
    def building(self) -> Path:
        """Where the bundle is written before it gets its name."""
        return self.folder / "bundle"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Go on with the run in this process and no other.

        Raises:
            MachineFailure: ``NB_RUN_BUSY`` when another process does.
        """
        with held(self.folder) as ours:
            if not ours:
                raise MachineFailure(
                    "NB_RUN_BUSY",
                    "another nanobench is at this run",
                    where=str(self.folder),
                    hint="let it finish, or choose another --out",
                )
            yield

    def pending(self) -> tuple[Cell, ...]:
        """The planned cells that have no result yet, in the plan's order."""
        with self._connection() as connection:
            done = {row[0] for row in connection.execute("SELECT cell FROM result")}
        return tuple(cell for cell in self.manifest.cells if cell.id not in done)

    def attempts(self, cell: Cell) -> tuple[Attempt, ...]:
        """Every attempt recorded for a cell, oldest first."""
        with self._connection() as connection:
            rows = connection.execute("SELECT document FROM attempt WHERE cell = ? ORDER BY number", (cell.id,))
            return tuple(read_json(row[0], Attempt, where=f"{self.folder}: {cell.id}") for row in rows)

    def record_attempt(self, cell: Cell, attempt: Attempt) -> None:
        """Keep an attempt after which there will be another; none is ever overwritten."""
        with self._connection() as connection:
            _record(connection, cell, attempt)

    def finish(self, result: CellResult) -> None:
        """Keep a cell's last attempt and its result, both or neither; a cell finishes once."""
        with self._connection() as connection:
            _record(connection, result.cell, result.attempts[-1])
            connection.execute("INSERT INTO result VALUES (?, ?)", (result.cell.id, dump_json(result)))

    def results(self) -> tuple[CellResult, ...]:
        """The results so far, in the plan's order."""
        with self._connection() as connection:
            rows = dict(connection.execute("SELECT cell, document FROM result").fetchall())
        return tuple(
            read_json(rows[cell.id], CellResult, where=f"{self.folder}: {cell.id}")
            for cell in self.manifest.cells
            if cell.id in rows
        )

    def pay(self, amount: Decimal) -> None:
        """Keep what an answer has cost, in US dollars."""
        with self._connection() as connection:
            connection.execute("INSERT INTO payment VALUES (?)", (str(amount),))

    def paid(self) -> Decimal:
        """What all answers so far have cost, those of attempts that a kill ended too."""
        with self._connection() as connection:
            return sum((Decimal(row[0]) for row in connection.execute("SELECT amount FROM payment")), Decimal(0))

    def remove(self) -> None:
        """Remove the folder, when the bundle holds everything."""
        remove_tree(self.folder)

    def _stored_manifest(self) -> RunManifest:
        with self._connection() as connection:
            (data,) = connection.execute("SELECT manifest FROM run").fetchone()
        return read_json(data, RunManifest, where=str(self.folder))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self._database, timeout=60)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise Refused("NB_RUN_STATE", f"not a usable state: {error}", where=str(self._database)) from error


def published_leftovers(folder: Path) -> tuple[Path, ...]:
    """The states of runs in ``folder`` whose bundle is there: they were killed before they could remove them."""
    found = sorted(folder.glob("*.state"))
    return tuple(state for state in found if state.with_suffix("").is_dir() and state.is_dir() and abandoned(state))


def _record(connection: sqlite3.Connection, cell: Cell, attempt: Attempt) -> None:
    connection.execute("INSERT INTO attempt VALUES (?, ?, ?)", (cell.id, attempt.number, dump_json(attempt)))
