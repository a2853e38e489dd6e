"""Checkpoints of an unfinished index: batches that are embedded survive a crash or a kill.

Each batch is an index file of its own in the folder NAME.part beside the output, written atomically
and with the fingerprints of its model and of its graphs. A later run reads the graphs again, and
embeds those that have no file. At the end the files become one, and no more than the numbers of
nodes and the ids of all graphs are in memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from graphmover._utils.files import remove_stale_drafts, require_writable
from graphmover._utils.locks import only_writer_of
from graphmover._utils.own_folder import OwnFolder
from graphmover.graphs.dataset import Dataset
from graphmover.io.index_file import StoredIndex, opened_index, write_index, write_joined_index
from graphmover.io.model_file import FittedModel, fingerprint
from graphmover.io.streaming import Content

_BATCH = re.compile(r"\d{6,}\.index")

#: What a killed process may leave besides.
_LITTER = re.compile(r"\.\d{6,}\.index\.\d+\.\d+\.part")


class PartialIndex:
    """Embedded batches of graphs, in a folder from which a later run can resume.

    Parameters
    ----------
    output : path
        The file that will hold the index.
    model : FittedModel
        What embeds the graphs.
    resume : bool
        Resume an interrupted run rather than start over.
    """

    def __init__(self, output: str | os.PathLike[str], model: FittedModel, *, resume: bool) -> None:
        require_writable(output)
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.part")
        self.n_batches = 0
        self.n_resumed = 0
        self._model = fingerprint(model)
        self._resume = resume

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(only_writer_of(self.output))
            remove_stale_drafts(self.output)
            names = _Batches(self.folder)
            self._files = stack.enter_context(OwnFolder(self.folder, names, _LITTER))
            if not self._resume:
                for name in list(names):
                    self._files.unlink(name)
            self._closing = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None or not len(_Batches(self.folder)):
            self._files.remove()
        self._closing.__exit__(kind, error, trace)

    def add(self, batch: Dataset, embed: Callable[[Dataset], StoredIndex]) -> None:
        """Embed the next batch, unless it was embedded before."""
        path = self._path(self.n_batches)
        content = Content()
        content.add(batch)
        key = {"content": content.digest(), "model": self._model}
        if self._files.exists(path.name):
            with opened_index(path) as found:
                is_same = found.parameters == key
            if not is_same:
                raise ValueError(
                    f"{self.folder} was started with other graphs, options or batches: finish it "
                    f"with those, or start over (--restart)"
                )
            self.n_resumed += 1
        else:
            write_index(path, embed(batch)._replace(parameters=key))
        self.n_batches += 1

    def finish(self, model: StoredIndex) -> int:
        """Write the index of all batches, with a model and parameters; return how many graphs."""
        parts = []
        for number in range(self.n_batches):
            with opened_index(self._path(number)) as part:
                parts.append(part)
        write_joined_index(self.output, model, parts)
        return sum(len(part.nodes) for part in parts)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.index"


class _Batches(Collection[str]):
    """The names of files of batches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _BATCH.fullmatch(name) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in os.listdir(self._folder) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
