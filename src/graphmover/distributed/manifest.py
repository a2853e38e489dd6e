"""The manifest of a run: everything that its rows depend on, and what differs from another's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphmover import __version__
from graphmover.distributed.layout import Layout
from graphmover.distributed.source import Source
from graphmover.distributed.storage import Place
from graphmover.distributed.unit import Job, Options, SourceFile, Unit

MANIFEST = "_manifest.json"
MODEL = "_model.npz"
SKIPPED = "_skipped.csv"
COMPLETE = "_SUCCESS"

_FORMAT = 1
#: The number of a part has at least this many digits.
_DIGITS = 6


class Manifest(NamedTuple):
    """What a run computes: with which model, from which files, in which units."""

    model: str  # fingerprint
    source: str
    is_one_file: bool
    ending: str
    options: dict[str, Any]  # those that matter for the rows
    layout: Layout
    files: list[SourceFile]
    units: list[Unit]
    version: str = __version__  # of graphmover

    @classmethod
    def of(
        cls, source: Source, options: Options, layout: Layout, *, model: str, unit_rows: int
    ) -> Manifest:
        """Return the manifest of a source that has been cut."""
        named = {**options._asdict(), "unit_rows": unit_rows}
        if options.errors == "raise":  # then limits decide whether there are rows, not which
            del named["max_bytes"], named["max_smiles"]
        if not options.keep_direction:  # runs from before there was a choice go on
            del named["keep_direction"]
        return cls(
            model,
            source.name,
            source.is_one_file,
            source.ending,
            named,
            layout,
            source.files,
            source.units,
        )

    def to_json(self) -> bytes:
        """Return the content of the file."""
        values = {"graphmover": self.version, **self._plain()}
        return _head(self.digest()) + json.dumps(values, separators=(",", ":")).encode()[1:]

    def _plain(self) -> dict[str, Any]:
        values = self._asdict() | {"layout": self.layout._asdict()}
        del values["version"]  # the fingerprint of the model depends on it
        return values

    def digest(self) -> str:
        """Return a fingerprint of everything that the rows depend on."""
        content = json.dumps(self._plain(), sort_keys=True).encode()
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Read the content of the file; raise ValueError if it is damaged."""
        try:
            values = json.loads(content)
            found, values["version"] = values.pop("format"), str(values.pop("graphmover"))
            values.pop("run", None)
            if found != _FORMAT:
                raise ValueError(
                    f"graphmover {values['version'][:40]} wrote it in the format {found}, "
                    f"expected {_FORMAT}"
                )
            values["layout"] = Layout(**values["layout"])
            values["files"] = [SourceFile(*file) for file in values["files"]]
            values["units"] = [Unit(*unit) for unit in values["units"]]
            return cls(**values)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise ValueError(str(error)[:200]) from error

    def differences(self, now: Manifest, of_model: Sequence[str]) -> list[str]:
        """Say what this run would have to be to be the other, in a few words each.

        ``of_model`` says what differs between the models.
        """
        found = []
        if self.version != now.version:
            found.append(
                f"graphmover {self.version[:40]} wrote it, this is graphmover {now.version} "
                f"(install the other version to finish it)"
            )
        found += of_model
        if not found and self.model != now.model:
            found.append("the model is a different one")
        if (self.source, self.is_one_file) != (now.source, now.is_one_file):
            found.append(f"the source is {now.source}, it was {self.source}")
        found += self._differing_files(now)
        names = [*self.options, *(name for name in now.options if name not in self.options)]
        for name in names:
            before, after = self.options.get(name), now.options.get(name)
            if before != after:
                found.append(f"{name}={after!r}, it was {name}={before!r}")
        if not found and self.layout != now.layout:
            found.append(f"the columns are {now.layout}, they were {self.layout}")
        if not found and self.units != now.units:
            found.append("the units are cut differently")
        return found

    def _differing_files(self, now: Manifest) -> list[str]:
        if len(self.files) != len(now.files):
            return [f"there are {len(now.files)} files, there were {len(self.files)}"]
        for old, new in zip(self.files, now.files, strict=True):
            if old.path != new.path:
                return [f"a file is {new.path}, it was {old.path}"]
            if old.size != new.size:
                return [f"{new.path} has {new.size} bytes, it had {old.size}"]
        same_cut = [u._replace(digest="") for u in self.units] == [
            u._replace(digest="") for u in now.units
        ]
        for one, other in zip(self.units, now.units, strict=False):
            if same_cut and one.digest != other.digest:
                return [f"the content of {now.files[other.file].path} has changed"]
        return []

    def job(self, folder: str, *, options: Options, batch_size: int, n_jobs: int) -> Job:
        """Return what every unit needs to know."""
        return Job(
            self.source,
            self.is_one_file,
            folder,
            self.ending,
            options,
            self.layout,
            self.digest(),
            self.model,
            max(_DIGITS, len(str(len(self.units) - 1))),
            batch_size,
            n_jobs,
            __version__,
        )


def is_of_run(folder: Place, run: str) -> bool:
    """Tell whether a folder is still that of a run, from the first bytes of its manifest."""
    head = _head(run)
    try:
        with folder.file(folder.at(MANIFEST)).open("rb") as file:
            return file.read(len(head)) == head
    except FileNotFoundError:
        return False


def _head(run: str) -> bytes:
    return f'{{"format":{_FORMAT},"run":"{run}",'.encode()
