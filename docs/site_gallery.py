"""Figures of examples that are no figures of pyplot, such as those of `Alignment.plot`."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def _get_sg_image_scraper():
    return save_figures


def save_figures(block, block_vars, gallery_conf):
    """Save the figures that a block of an example has left in variables, and return their rST."""
    paths = []
    for value in block_vars["example_globals"].values():
        of_pyplot = hasattr(value, "number")  # which the scraper of sphinx-gallery saves
        if isinstance(value, Figure) and not of_pyplot and not hasattr(value, "in_gallery"):
            value.in_gallery = True
            paths.append(next(block_vars["image_path_iterator"]))
            value.savefig(paths[-1])
    return figure_rst(paths, gallery_conf["src_dir"])
