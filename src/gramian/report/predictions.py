"""Write what was learned about a column: the whole folder or nothing, and the predictions of new rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.persistence import save
from gramian.report.outputs import (
    MODEL,
    REPORT,
    ROWS,
    SUMMARY,
    beside,
    free_name,
    plain,
    typed_beside,
    whole_folder,
    write_csv,
)
from gramian.report.prediction_page import write_learned_report
from gramian.report.words import rounded
from gramian.tables import Table, Unseen, unseen_values

if TYPE_CHECKING:
    from gramian.learning import Learned, Predicted, TargetModel


def write_learned_folder(learned: Learned, model: TargetModel, folder: Path, *, force: bool = False) -> None:
    """Write the report, the rows, the summary and the model."""
    with whole_folder(folder, force=force) as draft:
        write_learned_report(learned, draft / REPORT)
        write_csv(beside(learned.frame, learned.cells, _found(learned)), draft / ROWS)
        text = json.dumps(learned_summary(learned), indent=1, ensure_ascii=False) + "\n"
        (draft / SUMMARY).write_text(text, "utf-8")
        save(model, draft / MODEL)


def learned_rows(learned: Learned) -> Any:
    """Every row of the table with its prediction, as a DataFrame with numbers, dates and truth values."""
    frame = learned.frame
    return frame.assign(**{free_name(name, frame): column for name, column in _found(learned).items()})


def _found(learned: Learned) -> dict[str, Any]:
    """What is said of every row without its own value, by the names of the columns of the output."""
    from gramian.learning import Predicted

    said = Predicted(learned.predicted, learned.lower, learned.upper, learned.probabilities)
    error = learned.skill.measures.get("rmse", (0.0, 0.0))[0]
    found = _said(said, learned.classes, error)
    if not learned.classes:
        found["residual"] = rounded(learned.truth - learned.predicted, error)
    return found | {"row_was": learned.how}


def _said(predicted: Predicted, classes: list[str], error: float) -> dict[str, Any]:
    if not classes:
        ends = {"prediction": predicted.values, "lower": predicted.lower, "upper": predicted.upper}
        return {name: rounded(values, error) for name, values in ends.items()}
    shares = {f"probability_{name}": np.round(predicted.probabilities[:, j], 4) for j, name in enumerate(classes)}
    return {"prediction": np.asarray(classes, dtype=object)[predicted.values.astype(int)], **shares}


def predicted_rows(model: TargetModel, table: Table, *, unseen: Unseen | None = None, as_read: bool = False) -> Any:
    """New rows with their prediction, its interval or the probabilities of the classes, and a note, as a DataFrame.

    With ``as_read`` the values of the table are those of the file, otherwise numbers, dates and truth values.
    ``unseen`` is what :func:`gramian.tables.unseen_values` says of the rows, if that is known already.
    """
    said = model.predict(model.preparation.transform(table))
    error = model.measures_.get("rmse", [0.0, 0.0])[0]
    found = _said(said, model.classes or [], error)
    found["note"] = (unseen or unseen_values(model.preparation, table)).notes()
    if as_read:
        return beside(table.frame, table.cells, found).to_pandas()
    return typed_beside(table, model.preparation.kinds_, found)


def learned_summary(learned: Learned) -> dict[str, Any]:
    """The findings without the single rows, ready for JSON."""
    skill = learned.skill
    found: dict[str, Any] = {
        "source": learned.source,
        "rows": len(learned.truth),
        "target": learned.target,
        "columns": [asdict(column) for column in learned.columns],
        "verdict": learned.verdict,
        "overview": learned.sentences,
        "errors_of": "held-out rows" if skill.held_out else "rows left out one by one",
        "rows_judged": skill.rows,
        "explained": skill.explained,
        "certainty": skill.certainty,
        "errors": {name: {"model": pair[0], "trivial": pair[1]} for name, pair in skill.measures.items()},
        "columns_that_matter": [asdict(item) for item in learned.matters],
        "odd_rows": [asdict(item) | {"row": item.row + 1} for item in learned.surprises],
        "made": learned.made,
    }
    if learned.classes:
        found |= {
            "classes": learned.classes,
            "confusion": learned.confusion,
            "confidence": [asdict(item) for item in learned.confidences],
        }
    else:
        found["interval"] = {"coverage": learned.coverage, "held": skill.inside}
    told: dict[str, Any] = plain(found)
    return told
