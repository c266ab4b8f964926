"""Entry point of the command ``propkernels``."""

import gc

from propkernels.cli.app import app


def main() -> None:
    """Run the command line; the end does not search for garbage, which takes a third of a second."""
    try:
        app(prog_name="propkernels")
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
