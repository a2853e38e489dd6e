"""Mutated folders of CSV tables."""

from fuzz.mutations import finding, mutated_text, one_of

TABLES = {
    "nodes": b"node,graph,label,x,y\nb,1,C,1,2\na,2,N,3,4.5\nc,1,O,5,6\nd,2,C,-7,8e2\n",
    "edges": b"source,target,weight,label,length\nd,a,2,1,1.5\nb,c,0.5,2,2\n",
    "graphs": b"graph,target,year\n1,yes,1999\n2,no,2000\n3,no,2001\n",
}


def attack(rng, folder):
    """Read one mutated folder; return what went wrong, or None."""
    source = folder / "tables"
    source.mkdir(exist_ok=True)
    tables = dict(TABLES)
    for _ in range(int(one_of(rng, [1, 1, 2]))):
        name = one_of(rng, sorted(tables))
        tables[name] = mutated_text(rng, tables[name])
    if not rng.integers(30):
        tables["graphs"] = tables[one_of(rng, sorted(tables))]
    for name, text in tables.items():
        (source / f"{name}.csv").write_bytes(text)
    return finding(source)
