"""Pages for the tests, and what is in them."""

import json
from html.parser import HTMLParser

import numpy as np

import graphmover as gm

#: Text that would run, or end an element, if it were taken for HTML or JavaScript.
HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    '"><img src=x onerror="window.pwned=3">',
    "<!--<script>window.pwned=4",
    "');window.pwned=5;//",
    "{{script}} ${window.pwned=6} \u2028 & &lt;b&gt;",
    "$$\\href{javascript:window.pwned=7}{x}$$",
    "javascript:window.pwned=8",
]


def hostile_graphs(n=24):
    """Graphs whose ids, labels and target would run if they could."""
    rng = np.random.default_rng(0)
    graphs = []
    for index in range(n):
        size = 4 + index % 5
        edges = [(i, (i + 1) % size) for i in range(size)]
        labels = [HOSTILE[int(rng.integers(len(HOSTILE)))] for _ in range(size)]
        name = f"{HOSTILE[index % len(HOSTILE)]} {index}"
        graphs.append(gm.Graph(size, edges, node_labels=labels, id=name))
    target = np.array([HOSTILE[index % 3] for index in range(n)], dtype=object)
    return gm.Dataset(HOSTILE[1], gm.as_graph_batch(graphs), target)


class Elements(HTMLParser):
    """The elements of a page, as a parser sees them, and the text of its scripts."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.text = [], [], []
        self._script = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self._script = (dict(attributes), [])

    def handle_endtag(self, tag):
        if tag == "script":
            self.scripts.append((self._script[0], "".join(self._script[1])))
            self._script = None

    def handle_data(self, data):
        (self.text if self._script is None else self._script[1]).append(data)

    def json(self, name):
        """What a block of JSON holds."""
        (found,) = [text for attributes, text in self.scripts if attributes.get("id") == name]
        return json.loads(found)
