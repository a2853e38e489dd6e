"""``python -m graphmover`` is the command ``graphmover``."""

from graphmover.cli import main

if __name__ == "__main__":
    main()
