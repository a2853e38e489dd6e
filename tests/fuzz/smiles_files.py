"""Mutated files of SMILES."""

from fuzz.mutations import finding, mutated_text, one_of

PLAIN = b"CC(C)Cc1ccc(cc1)C(C)C(=O)O ibuprofen\nCCO\n[Na+].[Cl-]\tsalt\nC/C=C/C[13CH3]\n"
TABLE = b'name,smiles,target\n"a, b",c1ccccc1,0\nc,C(=O)O,1.5\nd,CCO,2\n'


def attack(rng, folder):
    """Read one mutated file; return what went wrong, or None."""
    name, text = one_of(rng, [("x.smi", PLAIN), ("x.csv", TABLE)])
    for _ in range(int(one_of(rng, [1, 1, 2]))):
        text = mutated_text(rng, text, b",\n =()[]")
    (folder / name).write_bytes(text)
    return finding(folder / name)
