"""How a source is read: how much at a time, which columns, and what becomes of bad graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, Any, Literal, NamedTuple, Protocol

from graphmover._utils.messages import counted, warn
from graphmover.graphs.columns import is_id
from graphmover.io.limits import Limit, check_limits

Errors = Literal["raise", "skip", "empty"]
ERRORS = ("raise", "skip", "empty")

#: Where the id of a graph is looked for, in this order, unless ``id_column`` says so.
ID_NAMES = ("id", "name")

_LONGEST_REASON = 1000


class Readable(Protocol):
    """A file to read: a `pathlib.Path`, or a file of another file system."""

    @property
    def stem(self) -> str:
        """The name without its ending."""

    def open(self, mode: Literal["rb"], /) -> IO[bytes]:
        """Open the file."""

    def __fspath__(self) -> str: ...


class Skipped(NamedTuple):
    """A graph that could not be read, and so was left out or has no nodes.

    Attributes
    ----------
    position : int or str
        Its line, counted from 1, in a file of lines; its file in a folder; or else its index in
        the source, counted from 0. In one of several files, after the name of the file and a colon.
    id : str, int or None
        What it is called, if that is known.
    reason : str
    """

    position: int | str
    id: str | int | None
    reason: str


class Sink(Protocol):
    """What takes graphs that could not be read, such as a list."""

    def append(self, skipped: Skipped, /) -> object:
        """Take the next."""


class BadGraphs:
    """What to do with graphs that cannot be read, and how many there were.

    Parameters
    ----------
    errors : {"raise", "skip", "empty"}
        Raise the error, leave the graph out, or keep a graph without nodes in its place.
    skipped : list, or another object with ``append``, optional
        Gets a `Skipped` for each. Without it, `warn` tells how many there were.
    """

    def __init__(self, errors: str = "raise", skipped: Sink | None = None) -> None:
        if errors not in ERRORS:
            known = ", ".join(map(repr, ERRORS))
            raise ValueError(f"errors must be one of {known}, got {errors!r}")
        if skipped is not None and not hasattr(skipped, "append"):
            raise TypeError(f"skipped must be a list or have append, got {skipped!r:.80}")
        self.are_raised = errors == "raise"
        self.n_graphs = 0
        self.file = ""  # the one that is read, of several
        self.counted = "line"  # what positions count
        self._are_left_out = errors == "skip"
        self._sink = skipped
        self._first = ""

    def leaves_out(
        self, error: Exception, position: int | str, id: str | int | None = None, where: str = ""
    ) -> bool:
        """Record an error about one graph; return whether it is left out rather than emptied.

        Raises the error if that is the policy. ``where`` is what it need not repeat.
        """
        if self.are_raised:
            raise self.with_remedy(error)
        reason = str(error).removeprefix(f"{where}: ")[:_LONGEST_REASON]
        self.n_graphs += 1
        if not self._first:
            place = position if isinstance(position, str) else f"{self.counted} {position}"
            of_file = f"{self.file}, " if self.file else ""
            self._first = f"the first: {of_file}{place}, {reason[:200]}"
        position = f"{self.file}:{position}" if self.file else position
        if self._sink is not None:
            self._sink.append(Skipped(position, id, reason))
        return self._are_left_out

    @staticmethod
    def with_remedy(error: Exception) -> Exception:
        """Return an error about one graph that says how to do without it."""
        kind = TypeError if isinstance(error, TypeError) else ValueError
        return kind(f'{error}; pass errors="skip" to leave out graphs that cannot be read')

    def warn(self) -> None:
        """Warn of bad graphs that nobody else has taken note of."""
        if self.n_graphs and self._sink is None:
            what = unread(self.n_graphs, are_left_out=self._are_left_out)
            warn(f"{what} ({self._first})")


def unread(n_graphs: int, *, are_left_out: bool) -> str:
    """Say how many graphs could not be read, and what became of them."""
    graphs = counted(n_graphs, "graph")
    have = "has" if n_graphs == 1 else "have"
    what = "left out" if are_left_out else "replaced by a graph without nodes"
    return f"{graphs} could not be read and {have} been {what}"


class ReadingOptions(NamedTuple):
    """What a caller asks for when graphs are read: keyword arguments of `iter_batches`."""

    target_column: str | None = None
    id_column: str | None = None
    errors: Errors = "raise"
    skipped: Sink | None = None
    max_bytes: int | None = None
    max_smiles: int | None = None
    keep_direction: bool = False

    @property
    def columns(self) -> dict[str, str | None]:
        """The names of columns, by the argument that gives them."""
        return {"target_column": self.target_column, "id_column": self.id_column}

    def check(self) -> None:
        """Raise an error that names an option whose value is not allowed."""
        for name, column in self.columns.items():
            if column is not None and not isinstance(column, str):
                raise TypeError(f"{name} must be a string or None, got {column!r}")
        check_limits(self.max_bytes, self.max_smiles)


class Reading(NamedTuple):
    """What a reader needs to know beside the path."""

    batch_size: int
    target_column: str | None
    id_column: str | None
    limit: Limit
    bad: BadGraphs
    keep_direction: bool = False
    is_file: bool = True

    def require_no_direction(self, what: str) -> None:
        """Reject a wish for directions that graphs of this kind never have."""
        if self.keep_direction:
            raise ValueError(f"{what} have no directions of edges: leave out keep_direction=True")


def id_column_of(names: Sequence[str], how: Reading, others: Iterable[str | None]) -> str | None:
    """Return the column with the ids: the one asked for, or ``id`` or ``name`` in any case.

    ``others`` are columns that have another meaning.
    """
    if how.id_column is not None:
        return how.id_column
    for wanted in ID_NAMES:
        found = [name for name in names if name.lower() == wanted]
        if len(found) == 1 and found[0] not in others:
            return found[0]
    return None


def id_of(attributes: dict[str, Any], how: Reading) -> str | int | None:
    """Return the id among the attributes of a graph, if it has one.

    Raises a ValueError if the one that was asked for is missing or cannot be an id.
    """
    if how.id_column is None:
        names = [name for name in ID_NAMES if name != how.target_column]
        return next((attributes[name] for name in names if is_id(attributes.get(name))), None)
    value = attributes.get(how.id_column)
    if not is_id(value) and how.bad.are_raised:
        raise ValueError(
            f"the graph has no attribute {how.id_column!r}"
            if value is None
            else f"{how.id_column} is {value!r:.80}, expected a string or an integer as id"
        )
    return value if is_id(value) else None
