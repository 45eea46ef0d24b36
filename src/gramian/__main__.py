"""``python -m gramian`` is ``gramian``."""

from gramian.cli import main

if __name__ == "__main__":
    main()
