"""Checks of output paths, and files that are written atomically."""

import errno
import os
from itertools import count

import pytest

from graphmover._utils import files
from graphmover._utils.files import replacing, require_folder_above, require_writable

CHECKS = (require_writable, require_folder_above)


def write(target):
    with replacing(target) as file:
        file.write(b"new")


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_leaves_nothing_behind(tmp_path, check):
    check(tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("use", [*CHECKS, write])
def test_drafts_of_another_process_of_this_number_are_left_alone(tmp_path, monkeypatch, use):
    """In containers, processes that are killed and started again have the same number."""
    monkeypatch.setattr(files, "_draft_numbers", count())
    monkeypatch.setattr(files, "remove_stale_drafts", lambda target: None)
    drafts = [tmp_path / f".x.csv.{os.getpid()}.{number}.part" for number in range(3)]
    for draft in drafts:
        draft.write_bytes(b"old")
    use(tmp_path / "x.csv")
    assert [draft.read_bytes() for draft in drafts] == [b"old"] * 3
    is_written = use is write
    assert len(list(tmp_path.iterdir())) == 3 + is_written
    assert not is_written or (tmp_path / "x.csv").read_bytes() == b"new"


@pytest.mark.parametrize("use", [*CHECKS, write])
def test_errors_name_the_output_rather_than_its_draft(tmp_path, monkeypatch, use):
    def fail(path, *arguments, **options):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), os.fspath(path))

    target = tmp_path / "x.csv"
    monkeypatch.setattr(files, "open", fail, raising=False)
    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(OSError, match="quota") as caught:
        use(target)
    assert caught.value.errno == errno.EDQUOT
    assert caught.value.filename == str(target)


@pytest.mark.skipif(os.name != "posix", reason="limits of names differ")
@pytest.mark.parametrize("use", [*CHECKS, write])
def test_names_that_are_too_long_are_named(tmp_path, use):
    target = tmp_path / ("x" * 255)
    with pytest.raises(OSError, match="name too long") as caught:
        use(target)
    assert caught.value.filename == str(target)


@pytest.mark.parametrize("use", [*CHECKS, write])
def test_folders_that_take_no_files(tmp_path, monkeypatch, use):
    with pytest.raises(FileNotFoundError, match=r"cannot write .*x\.csv: there is no folder .*no"):
        use(tmp_path / "no" / "x.csv")

    def fail(path, *arguments, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))

    monkeypatch.setattr(files, "open", fail, raising=False)
    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(PermissionError, match=r"cannot write .*x\.csv: the folder .* is read-only"):
        use(tmp_path / "x.csv")


@pytest.mark.parametrize("use", [require_writable, write])
def test_paths_that_cannot_be_files(tmp_path, use):
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        use(tmp_path)
    with pytest.raises(ValueError, match="null characters"):
        use(tmp_path / "x\0")
    with pytest.raises(ValueError, match="expected a regular file"):
        use(os.devnull)


def test_a_file_is_written_through_one_draft(tmp_path, monkeypatch):
    """The draft itself shows that the folder takes files."""
    monkeypatch.setattr(files, "_draft_numbers", numbers := count())
    write(tmp_path / "x.csv")
    assert next(numbers) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
