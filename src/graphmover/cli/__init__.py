"""The command line: each command parses, then calls one function.

Results go to standard output or to the named file, progress and messages to standard error.
Imports that take time happen inside the commands, so that ``--help`` is quick.

Exit codes: 0 done; 1 the data, a file or the computation failed; 2 wrong use of the command
line; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from graphmover._utils.messages import logger
from graphmover.cli.command import with_common_options
from graphmover.cli.compare import compare
from graphmover.cli.compile import compile
from graphmover.cli.convert import convert
from graphmover.cli.datasets import datasets
from graphmover.cli.demo import demo
from graphmover.cli.embed import embed
from graphmover.cli.evaluate import evaluate
from graphmover.cli.fit import fit
from graphmover.cli.index import index
from graphmover.cli.info import info
from graphmover.cli.report import report
from graphmover.cli.search import search
from graphmover.cli.standard_input import named_in
from graphmover.cli.words import UsageError, in_words_of_options, usage_message

_FAILED, _WRONG_USE = 1, 2
_INTERRUPTED = 130  # what shells expect after Ctrl-C


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        """See `_in_plain_words`."""
        return [_in_plain_words(one) for one in super().get_params(ctx)]


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """See `_in_plain_words`."""
        return [_in_plain_words(one) for one in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Say SOURCE where Typer says {SOURCE}."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def _in_plain_words(parameter: Any) -> Any:
    """Leave out what Typer adds to its help: the type of a flag, brackets around a default."""
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    if isinstance(parameter.show_default, str):
        parameter.help = f"{parameter.help} Default: {parameter.show_default}."
        parameter.show_default = False
    return parameter


app = typer.Typer(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Random Graph Embeddings: turn collections of graphs into vectors.",
)
for command in (
    demo,
    embed,
    fit,
    evaluate,
    compare,
    index,
    search,
    convert,
    info,
    report,
    datasets,
    compile,
):
    app.command(cls=_Command)(with_common_options(command))


def main() -> None:
    """Run the command line; an error is one line, not a traceback."""
    debug = "--debug" in sys.argv[1:]  # anywhere, before or after the command
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    if not debug:
        warnings.showwarning = _show_warning  # type: ignore[assignment]
    _print_anything()
    try:
        code = app(arguments or ["--help"], prog_name="graphmover", standalone_mode=False)
    except BrokenPipeError:  # whatever reads our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_FAILED)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except UsageError as error:
        _complain(usage_message(error))
        sys.exit(_WRONG_USE)
    except (ImportError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
        if debug:
            raise
        _complain(in_words_of_options(str(error) or "out of memory"))
        sys.exit(_FAILED)
    if code == _INTERRUPTED:  # leave at once, whatever threads are still busy
        _complain("interrupted")
        sys.stderr.flush()
        os._exit(_INTERRUPTED)
    sys.exit(code)


def _print_anything() -> None:
    """Escape what standard output cannot encode, as standard error does.

    On Windows, output that is redirected has an encoding of a few languages only.
    """
    from io import TextIOWrapper

    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _complain(message: str) -> None:
    logger.error("%s", named_in(" ".join(message.split())))


def _show_warning(message: Warning | str, *_: Any) -> None:
    logger.warning("%s", in_words_of_options(str(message)))


def _show_version(wanted: bool) -> None:
    if wanted:
        from graphmover import __version__

        print(f"graphmover {__version__}")
        raise typer.Exit


@app.callback()
def _graphmover(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    pass
