"""What explore, learn and network write: a folder with a page that opens offline, rows, a summary and a model.

Everything here shows what :class:`gramian.exploration.Exploration`, :class:`gramian.learning.Learned` and
:class:`gramian.communities.Division` hold and computes nothing new. It needs the extra
``app`` (pandas, pyarrow, jinja2, matplotlib); jinja2 and matplotlib are imported when something is drawn.
"""

from gramian.colours import INK, PAPER, css_variables
from gramian.report.album_page import write_album_report
from gramian.report.albums import album_rows, album_summary, placed_images, write_album_folder
from gramian.report.forecast_page import write_forecast_report
from gramian.report.forecasts import forecast_steps, forecast_summary, write_forecast_folder
from gramian.report.network_page import write_network_report
from gramian.report.networks import network_nodes, network_summary, placed_nodes, write_network_folder
from gramian.report.outputs import (
    MODEL,
    NODES,
    REPORT,
    ROW_PARTS,
    ROWS,
    STEPS,
    SUMMARY,
    OutputExists,
    assigned_rows,
    check_free,
    json_lines,
    prepare_to_write,
    rows_with_groups,
    summary,
    whole_folder,
    write_file,
    write_findings,
    write_folder,
)
from gramian.report.page import write_report
from gramian.report.pictures import write_pictures
from gramian.report.prediction_page import write_learned_report
from gramian.report.predictions import (
    learned_rows,
    learned_summary,
    predicted_rows,
    write_learned_folder,
)

__all__ = [
    "INK",
    "MODEL",
    "NODES",
    "PAPER",
    "REPORT",
    "ROWS",
    "ROW_PARTS",
    "STEPS",
    "SUMMARY",
    "OutputExists",
    "album_rows",
    "album_summary",
    "assigned_rows",
    "check_free",
    "css_variables",
    "forecast_steps",
    "forecast_summary",
    "json_lines",
    "learned_rows",
    "learned_summary",
    "network_nodes",
    "network_summary",
    "placed_images",
    "placed_nodes",
    "predicted_rows",
    "prepare_to_write",
    "rows_with_groups",
    "summary",
    "whole_folder",
    "write_album_folder",
    "write_album_report",
    "write_file",
    "write_findings",
    "write_folder",
    "write_forecast_folder",
    "write_forecast_report",
    "write_learned_folder",
    "write_learned_report",
    "write_network_folder",
    "write_network_report",
    "write_pictures",
    "write_report",
]
