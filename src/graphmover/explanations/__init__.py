"""Why graphs are alike: who is matched with whom, at what cost, and which anchors matter."""
