"""Reports of an exploration: one page that opens anywhere, and pictures.

Both draw what :mod:`gramian.exploration.result` describes and compute nothing new. They need the extra ``app`` (pandas,
jinja2, matplotlib), which is imported when they are called.
"""

from gramian.report.page import write_report
from gramian.report.pictures import write_pictures

__all__ = ["write_pictures", "write_report"]
