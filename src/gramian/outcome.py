"""What every application returns: the findings, a model for what comes later, and the ways to write both.

:mod:`gramian.explorer`, :mod:`gramian.learner` and their like name three functions of :mod:`gramian.report`; the rest
is here, and the command line and the server ask for nothing else.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from gramian.report import REPORT

__all__ = ["Outcome", "index_of"]


@dataclass(frozen=True)
class Outcome(ABC):
    """What an application found, and the model that it made.

    Attributes
    ----------
    found : object
        Everything, as plain data, with ``sentences`` that tell it.
    model : object
        For what comes later; ``gramian.save(model, path)`` keeps it.
    """

    found: Any
    model: Any

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """The findings without the single rows, ready for JSON."""

    @abstractmethod
    def _write_report(self, path: Path) -> Path:
        """Write the page and return where it is."""

    @abstractmethod
    def _write_folder(self, folder: Path, *, force: bool) -> None:
        """Write everything, or nothing."""

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report as one HTML file and return where it is; by default in a new temporary folder."""
        return self._write_report(Path(tempfile.mkdtemp(prefix="gramian_")) / REPORT if path is None else Path(path))

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the report, its tables, the summary and the model into a folder.

        Parameters
        ----------
        folder : path
            Made if it does not exist.
        force : bool, default False
            Replace the output of an earlier run.
        """
        self._write_folder(Path(folder), force=force)
        return Path(folder)

    def _page(self) -> str:
        """The report as text, for a notebook."""
        with tempfile.TemporaryDirectory(prefix="gramian_") as folder:
            return self._write_report(Path(folder) / REPORT).read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        """The report itself, as a notebook shows it: the page in a frame that folds away under its first sentence.

        The frame runs the page's own scripts and reaches nothing of the notebook; where frames are not allowed, as in a
        notebook that is not trusted, the sentence remains.
        """
        first = next(iter(self.found.sentences), "Report")
        frame = "width:100%;height:680px;border:1px solid #8884;border-radius:6px;margin-top:.5em"
        return (
            f"<details open class='gramian-report'><summary><b>{escape(first)}</b></summary>"
            f"<iframe title='Report' sandbox='allow-scripts allow-downloads' style='{frame}' loading='lazy' "
            f'srcdoc="{escape(self._page())}"></iframe></details>'
        )

    def __repr__(self) -> str:
        return "\n".join(self.found.sentences)


def index_of(source: Any) -> Any:
    """The index of a pandas data frame; None of anything else."""
    index = getattr(source, "index", None)  # a method of lists and texts
    return None if callable(index) else index
