"""Entry point of the command ``propkernels``."""

from propkernels.cli.app import app


def main() -> None:
    """Run the command line."""
    app(prog_name="propkernels")


if __name__ == "__main__":
    main()
