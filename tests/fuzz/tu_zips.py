"""Mutated zips of TU data sets: damaged, encrypted, nested, repeated, or with lying sizes."""

import io
import warnings
import zipfile

from fuzz.model_files import lying_sizes
from fuzz.mutations import finding, mutated_bytes, one_of
from fuzz.tu_texts import FILES, mutated_files

KINDS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
FOLDERS = ["TINY/", "", "a/b/TINY/", "../", "/", "C:\\", "TINY/../", "__MACOSX/._", "TINY//", "é/"]


def zipped(rng, files, folders):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", one_of(rng, KINDS)) as archive:
        warnings.simplefilter("ignore")  # zipfile warns about names that repeat
        for folder in folders:
            for part, content in files.items():
                archive.writestr(f"{folder}TINY_{part}.txt", content)
    return file.getvalue()


def mutated(rng):
    kind = rng.integers(6)
    if kind == 0:
        return zipped(rng, mutated_files(rng), ["TINY/"])
    if kind == 1:
        return zipped(rng, FILES, [one_of(rng, FOLDERS) for _ in range(int(rng.integers(1, 4)))])
    content = zipped(rng, FILES, ["TINY/"])
    if kind == 2:
        return lying_sizes(rng, content)
    if kind == 3:
        bomb = {
            **FILES,
            one_of(rng, sorted(FILES)): one_of(rng, [b"1\n", b"1,1\n", b"9"]) * 300_000,
        }
        return zipped(rng, bomb, ["TINY/"])
    return mutated_bytes(rng, content)


def attack(rng, folder):
    """Read one mutated zip; return what went wrong, or None."""
    source = folder / "TINY.zip"
    source.write_bytes(mutated(rng))
    return finding(source)
