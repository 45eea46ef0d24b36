"""The pictures are drawn, large enough, without matplotlib's global state, and whatever columns are called."""

import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np

from gramian.colours import GROUPS, rgb
from gramian.exploration.result import Cluster, Missingness
from gramian.report import write_pictures
from gramian.report.pictures import _groups, _map
from report.sample import make_exploration, nasty_exploration


def pixels(path):
    from matplotlib.image import imread

    return imread(path)[:, :, :3]


def test_three_pictures_in_the_colours_of_the_page(customers, tmp_path):
    paths = write_pictures(customers, tmp_path)
    assert [path.name for path in paths] == ["map.png", "groups.png", "missing.png"]
    for path in paths:
        image = pixels(path)
        assert image.shape[1] >= 1000
        assert np.ptp(image) > 0.5
    bars = pixels(paths[1]).reshape(-1, 3)
    for colour in GROUPS["light"][:3]:
        assert (np.abs(bars - rgb(colour)).max(axis=1) < 0.01).mean() > 0.005


def test_names_are_never_read_as_formulas(tmp_path):
    """A dollar opens no formula, an unknown letter gives a box; a warning would fail the test."""
    exploration = nasty_exploration()
    columns = [
        replace(column, name=r"$\frac{1" if i == 1 else column.name) for i, column in enumerate(exploration.columns)
    ]
    clusters = [
        replace(
            cluster, differences=[replace(d, column=r"$\frac{1 🙂 漢字 $", level="$x$") for d in cluster.differences]
        )
        for cluster in exploration.clusters
    ]
    gaps = Missingness(0.1, 3, [([r"$\frac{1"], 4)], [])
    paths = write_pictures(
        replace(exploration, source="$a_{$ 漢", columns=columns, clusters=clusters, missingness=gaps), tmp_path
    )
    assert all(path.stat().st_size > 3000 for path in paths)


def drawn(figure):
    """The figure with everything in its place."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()
    return figure


def test_long_names_and_values_stand_side_by_side():
    exploration = make_exploration(200)
    clusters = [
        replace(cluster, differences=[replace(d, column="W" * 90, here="1" * 40) for d in cluster.differences])
        for cluster in exploration.clusters
    ]
    figure = drawn(_groups(replace(exploration, clusters=clusters)))
    boxes = [text.get_window_extent() for axes in figure.axes for text in axes.texts]
    assert len(boxes) == (2 * 6 + 1) * len(clusters)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_rows_on_a_line_have_a_map_of_the_usual_shape(caplog):
    exploration = make_exploration(40)
    on_a_line = np.column_stack([np.arange(40.0), np.zeros(40)])
    figure = drawn(_map(replace(exploration, coordinates=on_a_line)))
    (axes,) = figure.axes
    assert axes.bbox.height > 0.5 * figure.bbox.height
    assert axes.get_xlim()[0] < 0 < 39 < axes.get_xlim()[1]
    one, other = axes.transData.transform([[0, 0], [1, 1]])
    np.testing.assert_allclose(*(other - one))
    assert caplog.records == []


def test_nothing_to_compare_is_said(tmp_path):
    exploration = make_exploration(40)
    paths = write_pictures(
        replace(
            exploration,
            labels=np.zeros(40, dtype=int),
            clusters=[Cluster(0, 40, 1.0, [0], [], "All.")],
            missingness=Missingness(0.0, 40, [], []),
        ),
        tmp_path,
    )
    assert all(path.exists() for path in paths)


def test_the_map_counts_groups_only_where_there_are_some():
    exploration = make_exploration(40)
    assert _map(exploration).get_suptitle() == "customers.csv: 40 rows in 3 groups"
    assert _map(replace(exploration, clusters=exploration.clusters[:1])).get_suptitle() == "customers.csv: 40 rows"


def test_many_groups_change_the_mark(tmp_path):
    exploration = make_exploration(400)
    labels = np.arange(400) % 20
    clusters = [replace(exploration.clusters[0], label=label, size=20) for label in range(20)]
    assert len(write_pictures(replace(exploration, labels=labels, clusters=clusters), tmp_path)) == 3


def test_pictures_leave_pyplot_alone():
    code = (
        "import sys; sys.path.insert(0, 'tests'); from report.sample import make_exploration;"
        "from gramian.report import write_pictures; import tempfile;"
        "write_pictures(make_exploration(60), tempfile.mkdtemp()); print('matplotlib.pyplot' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.strip() == "False"
