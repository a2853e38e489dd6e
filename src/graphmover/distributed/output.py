"""The folder of a run: what is in it, what is missing, and when it is complete."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO

from graphmover.distributed.lease import is_lease
from graphmover.distributed.manifest import COMPLETE, MANIFEST, MODEL, SKIPPED, Manifest
from graphmover.distributed.part import Footer, skipped_of, sound_part
from graphmover.distributed.storage import Place, is_draft
from graphmover.distributed.unit import Job
from graphmover.io.model_file import (
    FittedModel,
    FittedViews,
    model_differences,
    opened_model,
    write_model_to,
)
from graphmover.io.reading import Skipped
from graphmover.io.skipped_file import csv_line

_PART = re.compile(r"part-(\d{6,})\.parquet")
_OWN = (MANIFEST, MODEL, SKIPPED, COMPLETE)
#: Parts are verified by this many threads: reading waits for the disk, or for the network.
_THREADS = 8


class OutputFolder:
    """The folder that holds the parts of a run.

    Parameters
    ----------
    place : Place
        Its files and those that it may come to hold belong to graphmover alone.
    """

    def __init__(self, place: Place) -> None:
        self.place = place

    def prepare(
        self, manifest: Manifest, model: FittedModel | FittedViews, *, overwrite: bool
    ) -> None:
        """Make the folder that of this run: create it, or see that it is.

        Raises
        ------
        ValueError
            The folder is that of another run, or holds files that are not graphmover's.
        """
        self.place.make_folder()
        names = self.place.listing()
        foreign = sorted(name for name in names if not _is_own(name))
        if foreign:
            shown = ", ".join(map(repr, foreign[:5])) + (" and others" if foreign[5:] else "")
            raise ValueError(
                f"{self.place} holds files that are not graphmover's: {shown}. Remove them, or "
                f"choose another folder"
            )
        if overwrite:
            self._clear(names)
        elif MANIFEST in names:
            self._require_same(manifest, model)
        elif any(map(_PART.fullmatch, names)):
            raise ValueError(
                f"{self.place} holds parts, but no {MANIFEST}: remove them, choose another folder, "
                f"or pass overwrite=True"
            )
        self.place.remove(COMPLETE)
        content = BytesIO()
        write_model_to(content, model)
        with self.place.replacing(MODEL) as file:
            file.write(content.getvalue())
        with self.place.replacing(MANIFEST) as file:
            file.write(manifest.to_json())

    def _clear(self, names: dict[str, int]) -> None:
        self.place.remove(MANIFEST)  # first: without it, parts count for nothing
        for name in names:
            if _PART.fullmatch(name) or name in _OWN:
                self.place.remove(name)
        self.place.remove_drafts()

    def _require_same(self, manifest: Manifest, model: FittedModel | FittedViews) -> None:
        try:
            before = Manifest.from_json(self.place.read(MANIFEST))
        except ValueError as error:
            raise ValueError(
                f"{self.place.at(MANIFEST)} cannot be read, or it is damaged ({error}): choose "
                f"another folder, or pass overwrite=True to start over"
            ) from error
        of_model = [] if before.model == manifest.model else self._differences_of_model(model)
        differences = before.differences(manifest, of_model)
        if differences:
            raise ValueError(
                f"{self.place} was started as another run: {'; '.join(differences)}. Finish it as "
                f"it was started, choose another folder, or pass overwrite=True to start over"
            )

    def _differences_of_model(self, model: FittedModel | FittedViews) -> list[str]:
        """Say what differs between the model of the folder and another one, if that is known."""
        with suppress(OSError, ValueError):
            content = BytesIO(self.place.read(MODEL))
            with opened_model(self.place.at(MODEL), content=content) as before:
                return model_differences(before, model)
        return []

    def sound_parts(self, job: Job, n_units: int, *, verify: bool) -> dict[int, Footer]:
        """Return the footers of the parts that are there, and remove those that are damaged."""
        found = [name for name in self.place.listing() if _PART.fullmatch(name)]

        def check(name: str) -> Footer | None:
            with suppress(ValueError):
                footer = sound_part(self.place, name, job.layout, verify=verify)
                is_ours = footer.run == job.run and footer.unit < n_units
                if is_ours and name == job.part_name(footer.unit):
                    return footer
            self.place.remove(name)
            return None

        with ThreadPoolExecutor(_THREADS) as pool:
            footers = [footer for footer in pool.map(check, found) if footer is not None]
        return {footer.unit: footer for footer in footers}

    def finish(self, job: Job, footers: dict[int, Footer]) -> None:
        """Mark the folder as complete, after a last look at what is in it."""
        names = self.place.listing()
        lacking = [unit for unit in sorted(footers) if job.part_name(unit) not in names]
        if lacking:
            raise RuntimeError(
                f"{self.place.at(job.part_name(lacking[0]))} was written, but is gone: does every "
                f"worker see the same folder?"
            )
        self.place.remove_drafts()
        self._list_skipped(job, footers)
        summary = {
            "rows": sum(footer.rows for footer in footers.values()),
            "columns": job.layout.n_features,
            "parts": len(footers),
        }
        with self.place.replacing(COMPLETE) as file:
            file.write(json.dumps(summary).encode())

    def _list_skipped(self, job: Job, footers: dict[int, Footer]) -> None:
        """List the graphs that could not be read, in the order of the source."""
        if job.options.errors == "raise":
            return
        with self.place.replacing(SKIPPED) as file:
            file.write(csv_line(Skipped._fields))
            for unit in sorted(footers):
                if footers[unit].skipped:
                    for skipped in skipped_of(self.place, job.part_name(unit)):
                        file.write(csv_line(skipped))


def _is_own(name: str) -> bool:
    is_part = _PART.fullmatch(name) is not None
    return is_part or name in _OWN or is_draft(name) or is_lease(name)
