"""Kernel learning without labels and without knobs."""

__version__ = "0.1.0.dev0"
