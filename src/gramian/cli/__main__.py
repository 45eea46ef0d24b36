"""``python -m gramian.cli`` is ``gramian``."""

from gramian.cli import main

main()
