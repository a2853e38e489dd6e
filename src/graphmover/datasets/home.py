"""Names of data sets to paths, and downloads of those that are missing."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from graphmover._utils.files import replacing
from graphmover._utils.progress import is_shown
from graphmover.datasets.catalogue import DatasetInfo, catalogue, did_you_mean, is_in_catalogue
from graphmover.datasets.tu_files import file_digest, opened
from graphmover.io.limits import Limit

#: Tried in this order. The first is the collection's own server; the second, a repository of
#: public research code pinned to one commit, has the smaller data sets.
MIRRORS = (
    "https://www.chrsmrrs.com/graphkerneldatasets/",
    "https://raw.githubusercontent.com/bknyaz/graph_nn/"
    "42424688d23f34f6b6e9b4c110f3381c02198312/data/",
)
_BY_HAND = "https://chrsmrrs.github.io/datasets/"
_ELSEWHERE = "pass its folder as data_home or in the environment variable GRAPHMOVER_DATA"
_TIMEOUT = 30  # seconds without data

#: The largest download of a set, in megabytes.
LIMIT_VARIABLE = "GRAPHMOVER_MAX_DOWNLOAD_MB"
#: Without the variable: this many bytes, and this many more for each number of the set.
_SPARE_BYTES, _BYTES_PER_NUMBER = 64_000_000, 32


def cache_folder() -> Path:
    """Return the platform's cache folder for this package."""
    import pooch

    return Path(pooch.os_cache("graphmover"))


def locate(
    name_or_path: str | os.PathLike[str],
    data_home: str | os.PathLike[str] | None,
    *,
    download: bool,
) -> Path:
    """Return the folder or zip of a data set; download a named one that is missing."""
    given = os.fspath(name_or_path)
    if not _is_name(name_or_path):
        path = Path(given).expanduser()
        if not path.exists():
            name = path.stem
            hint = f". Did you mean the name {name}?" if is_known_name(name, data_home) else ""
            raise FileNotFoundError(f"there is no folder or zip {path}{hint}")
        return path
    home = _home(data_home)
    found = _find(given, home)
    if found is not None:
        if found.suffix == ".zip":
            _verify(found)
        return found
    _require_known(given, home)
    if not download:
        raise FileNotFoundError(_missing(given, home))
    return _fetch(given, home)


def is_known_name(
    source: str | os.PathLike[str], data_home: str | os.PathLike[str] | None = None
) -> bool:
    """Return whether a source is the name of a data set that is there or can be downloaded."""
    name = os.fspath(source)
    return _is_name(source) and (is_in_catalogue(name) or _find(name, _home(data_home)) is not None)


def _is_name(source: str | os.PathLike[str]) -> bool:
    return (
        isinstance(source, str)
        and source == os.path.basename(source)
        and not source.endswith(".zip")
    )


def _home(data_home: str | os.PathLike[str] | None) -> Path:
    chosen = data_home or os.environ.get("GRAPHMOVER_DATA")
    return Path(chosen).expanduser() if chosen else cache_folder()


def _find(name: str, home: Path) -> Path | None:
    """Return the zip or the folder of that name, if it exists."""
    for path in (home / f"{name}.zip", home / name / f"{name}.zip"):
        if path.is_file():
            return path
    return home / name if (home / name / f"{name}_A.txt").is_file() else None


def _require_known(name: str, home: Path) -> None:
    if is_in_catalogue(name):
        return
    if os.path.isdir(name):
        hint = f" To load the folder in the working directory, pass ./{name}."
    else:
        hint = did_you_mean(name)
    no_file = "" if os.path.exists(name) else f"there is no file or folder {name!r}, and "
    raise FileNotFoundError(
        f"{no_file}{_not_there(name, home)}: put it there, or {_ELSEWHERE}. The TU "
        f"collection has no such data set.{hint}"
    )


def _not_there(name: str, home: Path) -> str:
    return f"no data set {name!r} in {home}, neither as {name}.zip nor as a folder {name}"


def _missing(name: str, home: Path) -> str:
    by_hand = f"Download {name}.zip from {_BY_HAND} and put it there"
    return f"{_not_there(name, home)}. {by_hand}, or {_ELSEWHERE}"


def _fetch(name: str, home: Path) -> Path:
    target = home / f"{name}.zip"
    (info,) = (info for info in catalogue(contains=name) if info.name == name)
    most_bytes = _most_bytes(info)
    home.mkdir(parents=True, exist_ok=True)
    failures = []
    for mirror in MIRRORS:
        url = f"{mirror}{name}.zip"
        try:
            _download(url, target, most_bytes, info.n_graphs)
        except (OSError, ValueError) as error:  # all that requests raises is an OSError
            failures.append(_reason(error, url))
        else:
            return target
    tried = "; ".join(failures)
    raise ConnectionError(f"{_missing(name, home)}. The download failed: {tried}")


def _most_bytes(info: DatasetInfo) -> int:
    """Return the largest size of a download: as the user says, or far above what is announced."""
    given = os.environ.get(LIMIT_VARIABLE)
    if given:
        try:
            megabytes = float(given)
        except ValueError:
            megabytes = 0.0
        if not 0 < megabytes < 1e12:
            raise ValueError(
                f"{LIMIT_VARIABLE} must be a positive number of megabytes, got {given!r}"
            )
        return int(megabytes * 1e6)
    nodes = info.mean_nodes * (2 + info.node_attributes)
    edges = 2 * info.mean_edges * (3 + info.edge_attributes)
    numbers = info.n_graphs * (nodes + edges + 1 + info.n_targets)
    return _SPARE_BYTES + int(_BYTES_PER_NUMBER * numbers)


def _reason(error: Exception, url: str) -> str:
    """Summarise why a download failed."""
    from requests import ConnectionError as Unconnected
    from requests import HTTPError, Timeout

    if isinstance(error, Unconnected | Timeout):
        return f"no connection to {urlsplit(url).hostname}"
    if isinstance(error, HTTPError) and error.response is not None:
        return f"{url}: {error.response.status_code} {error.response.reason}"
    return f"{url}: {error}"


def _download(url: str, target: Path, most_bytes: int, n_graphs: int) -> None:
    """Download a zip atomically, if it is what the catalogue announces and what came before."""
    import pooch

    fetch = pooch.HTTPDownloader(progressbar=is_shown(), chunk_size=1 << 16, timeout=_TIMEOUT)
    with replacing(target) as file:
        fetch(url, _LimitedFile(file, most_bytes), None)
        file.flush()
        draft = Path(file.name)
        _require_zip(draft, target.stem)
        _require_graphs(draft, n_graphs)
        digest = file_digest(draft)
        recorded = _recorded(target)
        if recorded not in {None, digest}:
            raise ValueError(
                f"its SHA-256 is {digest}, but was {recorded} in an earlier download; if the "
                f"change is expected, delete {_record(target)}"
            )
    if recorded is None:
        with replacing(_record(target)) as file:
            file.write(f"{digest}  {target.name}\n".encode())


class _LimitedFile:
    """A file that raises an error when too much is written to it."""

    def __init__(self, file: IO[bytes], most_bytes: int) -> None:
        self._file, self._most, self._size = file, most_bytes, 0

    def write(self, piece: bytes) -> int:
        self._size += len(piece)
        if self._size > self._most:
            raise ValueError(
                f"the download was stopped at the limit of {self._most / 1e6:.1f} MB for this set; "
                f"to allow more, set the environment variable {LIMIT_VARIABLE}"
            )
        return self._file.write(piece)

    def flush(self) -> None:
        self._file.flush()


def _require_zip(draft: Path, name: str) -> None:
    """Reject error pages and truncated downloads: the directory of a zip is at its end."""
    try:
        with zipfile.ZipFile(draft) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        with draft.open("rb") as stream:
            start = stream.read(40)
        raise ValueError(f"not a complete zip; it starts with {start!r} ({error})") from None
    if not any(member.rpartition("/")[2] == f"{name}_A.txt" for member in members):
        raise ValueError(f"the downloaded zip holds no {name}_A.txt")


def _require_graphs(draft: Path, expected: int) -> None:
    """Reject a set whose number of graphs is not the catalogue's."""
    from graphmover.datasets.numbers import BadLineError, read_table

    with opened(draft, Limit(draft)) as files:
        has_classes = files.size("graph_labels") is not None
        part = "graph_labels" if has_classes else "graph_attributes"
        if files.size(part) is None:
            raise ValueError("the downloaded zip holds neither graph_labels nor graph_attributes")
        try:
            n_graphs = len(read_table(files.pieces(part), "integer" if has_classes else "real"))
        except BadLineError as error:
            raise ValueError(f"{part}.txt, {error}") from None
    if n_graphs != expected:
        raise ValueError(
            f"the downloaded set has {n_graphs} graphs, but the catalogue says {expected}"
        )


def _record(path: Path) -> Path:
    """Return the file with the SHA-256 of a download, in the format of ``sha256sum -c``."""
    return path.with_name(f"{path.name}.sha256")


def _recorded(path: Path) -> str | None:
    try:
        words = _record(path).read_text(encoding="ascii").split()
    except FileNotFoundError:
        return None
    return words[0] if words else None


def _verify(path: Path) -> None:
    """Reject a zip that differs from the one downloaded; one put there by hand has no record."""
    recorded = _recorded(path)
    if recorded is None:
        return
    digest = file_digest(path)
    if digest != recorded:
        raise ValueError(
            f"{path} differs from the download: its SHA-256 is {digest}, expected {recorded}. "
            f"Delete it to download it again, or delete {_record(path)} if the change is yours"
        )
