"""Mutated text files of TU data sets."""

from fuzz.mutations import TOKENS, finding, mutated_text, one_of

FILES = {
    "A": b"1, 2\n2, 1\n3, 4\n4, 3\n5, 4\n",
    "graph_indicator": b"1\n1\n2\n2\n2\n",
    "graph_labels": b"-1\n1\n",
    "node_labels": b"0\n1\n2\n1\n0\n",
    "node_attributes": b"0.5, 1e-3\n1, -2\n3, 4.25\n0, 0\n.5, 6.\n",
    "edge_labels": b"0, 1\n0, 1\n2, 1\n2, 1\n0, 0\n",
    "edge_attributes": b"1.5\n-1.5\n2\n3\n0.125\n",
    "graph_attributes": b"0.5\n1.5\n",
}


def mutated_files(rng):
    """Return the files of a data set, of which some are changed, missing or swapped."""
    files = dict(FILES)
    if rng.integers(3):
        del files["graph_labels" if rng.integers(2) else "graph_attributes"]
    for _ in range(int(one_of(rng, [1, 1, 2]))):
        part = one_of(rng, sorted(files))
        kind = rng.integers(12)
        if kind == 0:
            files[part] = b"\n".join([one_of(rng, TOKENS)] * int(one_of(rng, [1, 5, 3000])))
        elif kind == 1:
            files[part] = files[one_of(rng, sorted(files))]
        elif kind == 2 and len(files) > 3:
            del files[part]
        else:
            files[part] = mutated_text(rng, files[part])
    return files


def attack(rng, folder):
    """Read one mutated data set; return what went wrong, or None."""
    source = folder / "TINY"
    source.mkdir(exist_ok=True)
    for file in source.iterdir():
        file.unlink()
    for part, content in mutated_files(rng).items():
        (source / f"TINY_{part}.txt").write_bytes(content)
    return finding(source)
