"""python -m novikoff: the command, where it is not on the path."""

from novikoff.cli import main

if __name__ == "__main__":
    main(prog_name="novikoff")
