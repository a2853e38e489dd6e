"""Libraries that only some rivals need, imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The extra of pyproject.toml that brings a library.
_EXTRAS = {"torch": "torch-geometric", "torch_geometric": "torch-geometric", "rdkit": "smiles"}


def optional(library: str, what: str) -> Any:
    """Return a module of an optional library.

    Parameters
    ----------
    library : str
        The module, such as "torch.nn".
    what : str
        What needs it, for the message of the error.

    Raises
    ------
    ImportError
        With the command that installs the library.
    """
    try:
        return import_module(library)
    except ImportError as error:
        package = library.partition(".")[0]
        extra = _EXTRAS.get(package, "rivals")
        raise ImportError(
            f'{what} needs {package}: pip install "graphmover[{extra}]" ({error})'
        ) from error
