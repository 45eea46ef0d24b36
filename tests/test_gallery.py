"""Every script of the gallery runs as written, small, in an empty folder, and its printed claims hold."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
SCRIPTS = {path.name[:3]: path for path in sorted(GALLERY.glob("[0-9]*.py"))}


def script(number: str) -> ModuleType:
    path = SCRIPTS[number]
    spec = importlib.util.spec_from_file_location(f"gallery_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a script in an empty folder; gives what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(number: str, *arguments: str) -> str:
        script(number).main(list(arguments))
        return capsys.readouterr().out

    return call


def assert_picture(path: Path) -> None:
    """A PNG that is not blank."""
    from matplotlib.image import imread

    pixels = imread(path)
    assert min(pixels.shape[:2]) > 300
    assert np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0).shape[0] > 10


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]


def test_every_script_of_the_gallery_has_a_test_here():
    tested = set(re.findall(r'run\(\s*"(\d{3})"', Path(__file__).read_text()))
    assert set(SCRIPTS) == tested


def agreement(printed: str) -> tuple[list[float], list[float]]:
    """Accuracy, NMI and ARI of the fitted and of the new rows."""
    fitted, new = (
        next(line for line in printed.splitlines() if name in line) for name in ("rows of fit", "by predict")
    )
    return numbers(fitted), numbers(new)


def test_demo_with_its_defaults_finds_the_six_diseases_and_draws_them(run):
    printed = run("010")
    fitted, new = agreement(printed)
    assert min(fitted[0], new[0]) > 0.9
    for disease in ("psoriasis", "lichen planus", "pityriasis rubra pilaris"):
        assert disease in printed
    assert "366 rows (8 rows with holes used as they are)" in printed
    assert "Picture: demo/dermatology_auto.png" in printed
    assert_picture(Path("demo/dermatology_auto.png"))


@pytest.mark.parametrize("kernel", script("010").KERNELS)
def test_demo_clusters_wine_with_every_kernel_and_better_than_chance(tmp_path, capsys, kernel):
    demo, drawn = script("010"), {}
    demo.draw = lambda path, **parts: drawn.update(parts)  # the picture is the slow part, and tested above
    demo.main(["--table", "wine", "--kernel", kernel, "--out", str(tmp_path)])
    fitted, new = agreement(capsys.readouterr().out)
    assert min(fitted[0], new[0]) > 0.6  # the largest cultivar is 40 % of the rows
    assert [points.shape for points in drawn["maps"]] == [(142, 2), (36, 2)]
    assert all(np.isfinite(points).all() for points in drawn["maps"])


def test_demo_prints_the_scores_of_the_metrics_under_the_names_that_fit_gave():
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    rng = np.random.default_rng(0)
    classes, clusters = rng.integers(3, size=60), rng.integers(3, size=60)
    old, new = np.arange(40), np.arange(40, 60)
    printed = script("010").agreement_table(classes, clusters[old], clusters[new], old, new, {0: 2, 1: 0})
    right = [{0: 2, 1: 0}.get(cluster) == true for cluster, true in zip(clusters, classes, strict=True)]
    for row, part in enumerate((old, new)):
        scores = (
            np.mean([right[i] for i in part]),
            normalized_mutual_info_score(classes[part], clusters[part]),
            adjusted_rand_score(classes[part], clusters[part]),
        )
        cells = [list(column.cells)[row] for column in printed.columns]
        assert cells[1:] == [str(len(part)), *(f"{score:.3f}" for score in scores)]


def test_demo_draws_the_features_that_differ_most():
    demo = script("010")
    X = np.array([[1.0, 5.0, 0.0], [1.0, 5.0, 1.0], [-1.0, 4.0, 0.0], [-1.0, 4.0, 1.0]])
    difference = demo.standardised_difference(X, np.array([True, True, False, False]))
    assert difference.tolist() == [2.0, 1.0, 0.0]
    assert demo.telling_features(np.array([difference, -difference]), most=2) == [0, 1]


def test_demo_compares_the_values_that_are_there():
    X = np.array([[1.0, 5.0], [np.nan, 5.0], [-1.0, np.nan], [-1.0, np.nan]])
    difference = script("010").standardised_difference(X, np.array([True, True, False, False]))
    assert difference.tolist() == [2.0, 0.0]


def test_demo_clusters_a_table_where_hardly_a_row_is_complete(tmp_path, capsys):
    demo, drawn = script("010"), {}
    demo.draw = lambda path, **parts: drawn.update(parts)
    demo.main(["--table", "horse_colic", "--kernel", "cluster", "--out", str(tmp_path)])
    assert "361 rows with holes used as they are" in capsys.readouterr().out
    assert all(np.isfinite(points).all() for points in drawn["maps"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kernel", "gauss"], "--kernel gauss is not a kernel for a table; use one of auto, cauchy"),
        (["--kernel", "precomputed"], "--kernel precomputed is not a kernel for a table"),
        (["--table", "titanic"], "--table titanic is not a bundled table; use one of breast_w"),
        (
            ["--kernel", "rbf", "--table", "horse_colic"],
            "--table horse_colic has only 7 rows without holes; use a kernel that takes them, auto or cluster",
        ),
        (["--clusters", "1"], "--clusters 1 must be from 2 to 12"),
        (["--seed", "-1"], "--seed -1 is negative"),
        (["--out", "taken/demo"], "--out taken/demo cannot be made"),
    ],
)
def test_demo_answers_a_bad_argument_in_one_line_with_exit_code_2(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file where a folder should go")
    with pytest.raises(SystemExit) as stopped:
        script("010").main(arguments)
    message = capsys.readouterr().err
    assert stopped.value.code == 2
    assert message.startswith(f"error: {words}")
    assert message.count("\n") == 1


def test_new_rows_land_in_the_right_cluster(run):
    printed = run("020", "--rows", "300", "--new", "500")
    assert "SpectralClustering has predict: False" in printed
    assert len(re.findall(r"(?:100\.0|99\.\d)% of 500 new rows", printed)) == 2
    assert_picture(Path("demo/new_rows.png"))


def test_kernel_pca_leaves_less_noise_than_linear_pca(run):
    printed = run("030", "--train", "700", "--test", "40")
    noisy, linear, kernel = (numbers(line)[-1] for line in printed.splitlines()[:3])
    assert kernel < 0.8 * linear < linear < noisy
    assert_picture(Path("demo/denoised_digits.png"))


def test_chosen_landmarks_are_better_than_random_ones(run):
    lines = run("040", "--rows", "800", "--landmarks", "20", "60", "--repeats", "2").splitlines()
    whole, worst = ({line.split()[0]: numbers(line)[-1] for line in block} for block in (lines[2:6], lines[8:12]))
    assert set(whole) == set(worst) == {"uniform", "kmeans", "renyi", "leverage"}
    assert whole["kmeans"] < min(whole[name] for name in ("uniform", "renyi", "leverage"))
    assert max(worst["renyi"], worst["kmeans"]) < worst["uniform"]
    assert_picture(Path("demo/landmarks.png"))


def test_many_rows_are_clustered_through_landmarks(run):
    printed = run("050", "--rows", "20000", "--landmarks", "60")
    assert "18000 rows: the Gram matrix would take 1.3 GB" in printed
    assert [float(score) for score in re.findall(r"ARI (\d\.\d+)", printed)] == [1.0, 1.0]
    assert_picture(Path("demo/million_rows.png"))


def test_many_holes_are_better_left_than_filled_with_means(run):
    shares, repeats = ["0.2", "0.4"], ["--repeats", "1", "--restarts", "3"]
    lines = run("060", "--shares", *shares, *repeats).splitlines()
    assert "20%    40%" in lines[1]
    left, similar, means = (numbers(line) for line in lines[2:5])
    assert min(left) > 0.75
    assert left[1] > means[1] + 0.1
    assert all(0 < score <= 1 for score in similar)
    assert "Picture: demo/holes_dermatology.png" in lines[5]
    assert_picture(Path("demo/holes_dermatology.png"))


def test_ranking_rows(run, tmp_path):
    printed = run("070", "--restarts", "5", "--top", "20")
    clusters = [numbers(line) for line in printed.splitlines() if line.startswith("cluster")]
    assert len(clusters) >= 2
    assert all(top >= whole for whole, top in clusters)
    assert numbers(printed.splitlines()[-2])[-1] > 0.8
    assert_picture(tmp_path / "demo" / "ranked_votes.png")


def test_another_grouping_is_found_and_read(run, tmp_path):
    """The hidden grouping and nothing of the known one, each resting on its own columns."""
    printed = run("080", "--rows", "200")
    hidden, known = (float(line.split()[-1]) for line in printed.splitlines()[:2])
    assert hidden > 0.95
    assert known < 0.05
    columns = {line.split(":")[0]: line.split(": ")[1] for line in printed.splitlines()[2:4]}
    assert columns["known"].startswith("cloud")
    assert columns["found"].startswith("crescent")
    assert_picture(tmp_path / "demo" / "another_grouping.png")


def test_a_stream_of_rows_is_classified_better_than_by_a_plane(run, tmp_path):
    printed = run("090", "--rows", "6000", "--prototypes", "100", "--pieces", "3")
    assert "6000 rows: the Gram matrix would take 0.1 GB" in printed
    ours, linear = (numbers(line) for line in printed.splitlines()[1:3])
    assert ours[-1] > linear[-1] + 5
    assert ours[-1] >= ours[0] - 1
    assert_picture(tmp_path / "demo" / "million_rows_predicted.png")


def test_the_error_peaks_at_as_many_waves_as_rows_and_falls_again(run, tmp_path):
    printed = run("100", "--rows", "60", "--features", "0.3", "1.0", "8.0", "--repeats", "3")
    least, chosen = (numbers(line) for line in printed.splitlines()[2:4])
    assert least[1] > 4 * max(least[0], least[2])
    assert max(chosen) < least[1] / 3
    assert_picture(tmp_path / "demo" / "double_descent.png")


def test_the_robust_curve_is_nearer_to_the_truth(run, tmp_path):
    least, robust, weights = (numbers(line) for line in run("110").splitlines()[:3])
    assert robust[-1] < least[-1] / 5
    assert weights[0] < 0.2 < weights[1]
    assert_picture(tmp_path / "demo" / "robust_curve.png")


def test_intervals_hold_the_truth_as_often_as_asked(run, tmp_path):
    printed = [numbers(line) for line in run("120", "--coverage", "0.5", "0.9").splitlines()[:3]]
    error, trivial = printed[0]
    assert error < 0.8 * trivial
    for asked, inside, _ in printed[1:]:
        assert abs(asked - inside) < 0.1
    assert printed[1][2] < printed[2][2]
    assert_picture(tmp_path / "demo" / "intervals.png")


def test_curved_directions_of_two_views_correlate_better_than_straight_ones(run, tmp_path):
    linear, curved = (numbers(line)[0] for line in run("130").splitlines()[:2])
    assert curved > linear + 0.3
    assert_picture(tmp_path / "demo" / "two_views.png")


def test_robust_components_leave_less_noise_than_those_of_a_dirty_collection(run, tmp_path):
    noisy, plain, robust, weights = (numbers(line) for line in run("140").splitlines()[:4])
    assert robust[-1] < plain[-1] < noisy[-1]
    assert weights[0] < 0.1 < weights[1]
    assert_picture(tmp_path / "demo" / "denoised_robustly.png")


def test_hidden_nodes_are_placed_and_a_level_shows_the_larger_groups(run, tmp_path):
    printed = run("180").splitlines()
    asked, placed = (numbers(line)[0] for line in printed[:2])
    assert min(asked, placed) > 0.9
    assert max(numbers(line)[1] for line in printed if line.startswith("level")) == 1
    assert_picture(tmp_path / "demo" / "communities.png")


def test_laser_is_forecast_better_by_random_units_than_by_lags(run):
    printed = run("190", "--steps", "4000", "--units", "300", "--ahead", "60")
    units, lags = (numbers(line) for line in printed.splitlines()[:2])
    assert all(ours < theirs for ours, theirs in zip(units, lags, strict=True))
    assert "by itself it stays within a deviation" in printed
    assert_picture(Path("demo/laser.png"))


def test_a_series_in_pieces_is_learned_from_sums(run):
    printed = run("200", "--steps", "8000", "--units", "100", "--pieces", "4")
    assert "8000 steps: all states would take 6 MB, the sums take 0.1 MB" in printed
    error = next(line for line in printed.splitlines() if line.startswith("error"))
    assert numbers(error)[-1] < 0.05
    assert_picture(Path("demo/million_steps.png"))


def test_a_reservoir_sees_the_attractor_that_three_units_flatten(run):
    printed = {line.split(":")[0]: numbers(line) for line in run("240", "--steps", "3000").splitlines()}
    for name in ("true", "delays", "reservoir"):
        assert abs(printed[name][0] - 2.05) < 0.2
        assert 0.6 < printed[name][1] < 1.4
    assert printed["three units"][0] < 1.9
    assert_picture(Path("demo/attractor.png"))


def test_clusters_over_time_are_followed_through_a_year(run, tmp_path):
    """Haze goes and comes back, calm and busy days meet and part: each is told once, in this order."""
    printed = run("150", "--weeks", "20", "--days", "60", "--memory", "0.3").splitlines()
    kinds = [line.split()[2] for line in printed[1:5]]
    assert printed[0] == "memory 0.3: 4 events"
    assert kinds == ["death", "merge", "split", "birth"]
    assert_picture(tmp_path / "demo" / "clusters_over_time.png")


def test_the_chosen_width_separates_moons_that_a_wide_one_cuts(run, tmp_path):
    chosen, bad, good = run("160").splitlines()[:3]
    assert "2 clusters" in chosen
    assert max(numbers(bad)[:2]) < 0.5 < 0.95 < min(numbers(good)[:2])
    assert_picture(tmp_path / "demo" / "widths.png")


def test_segments_of_a_photograph_hang_together(run, tmp_path):
    printed = run("170", "--step", "8", "--pixels", "200", "--segments", "3")
    for line in printed.splitlines()[:2]:
        neighbours, at_random = (int(share) for share in re.findall(r"in (\d+)%", line))
        assert neighbours > at_random + 30
    assert_picture(tmp_path / "demo" / "segments.png")


def test_series_with_holes_is_forecast_better_than_by_its_last_value(run):
    printed = run("210", "--steps", "2000", "--horizon", "12", "--networks", "1")
    rows = {line.split()[0]: numbers(line) for line in printed.splitlines() if line[:4] in ("naiv", "lags", "netw")}
    assert min(rows["lags"][0], rows["networks"][0]) < rows["naive"][0]
    assert "inside the band" in printed
    assert_picture(Path("demo/forecast.png"))


def test_codes_follow_a_chosen_similarity_and_come_back(run, tmp_path):
    printed = run("220", "--train", "300", "--steps", "150", "--codes", "30").splitlines()
    with_kernel, without = (numbers(line) for line in printed[:2])
    assert with_kernel[0] < 0.7 * without[0]
    assert_picture(tmp_path / "demo" / "a_way_back.png")


def test_rows_with_holes_have_codes_and_are_filled(run, tmp_path):
    printed = run("230", "--train", "300", "--steps", "150").splitlines()
    assert numbers(printed[0])[0] > 0.5
    decoder, means = numbers(printed[2])[0], numbers(printed[3])[0]
    assert decoder < means
    assert_picture(tmp_path / "demo" / "codes_with_holes.png")


def test_clusters_of_images_are_shown_with_their_reasons(run, tmp_path):
    printed = run("250", "--kinds", "3", "--steps", "60").splitlines()
    before, after = (float(line.split(": ")[1].split()[0]) for line in printed[:2])
    assert min(before, after) > 0.9
    assert_picture(tmp_path / "demo" / "clusters_of_images.png")


def test_learned_kernel_labels_new_points(run, tmp_path):
    printed = run("260", "--points", "2000", "--fitted", "200", "--steps", "300")
    assert numbers(printed)[2] > 0.7
    assert "spectral clustering" in printed
    assert_picture(tmp_path / "demo" / "learned_kernel.png")


def test_lists_of_new_images_show_the_digit_of_the_query(run):
    lines = run("075", "--rows", "600", "--draws", "1").splitlines()[:5]
    shares = {line[:16].strip(): numbers(line)[0] for line in lines}
    assert list(shares) == ["10 eigenvectors", "30 eigenvectors", "100 eigenvectors", "default", "distance"]
    assert min(shares["100 eigenvectors"], shares["distance"]) > 0.9
    assert shares["default"] < shares["distance"]  # as the text says
    assert_picture(Path("demo/images_like_this_one.png"))


def test_hsic_finds_the_four_pairs_and_correlation_the_straight_one(run):
    correlation, dependence = run("085", "--rows", "250").splitlines()[:2]
    assert correlation == "correlation: a and a + noise"
    assert dependence == "HSIC: x and x², cos and sin, spread and wide, a and a + noise"
    assert_picture(Path("demo/columns_that_depend.png"))


def test_eight_labels_of_each_ring_are_enough(run):
    with_others, alone = (
        numbers(line) for line in run("145", "--labels", "2", "8", "--repeats", "3").splitlines()[1:3]
    )
    assert min(with_others[0], alone[0]) > 0.6
    assert min(with_others[1], alone[1]) > 0.95
    assert_picture(Path("demo/a_few_labels.png"))


def test_a_class_without_labels_is_found(run):
    fourth = [line for line in run("147").splitlines() if "the fourth group" in line]
    assert "hidden" not in fourth[0]
    assert int(re.search(r"(\d+) hidden 1", fourth[1])[1]) > 90
    assert_picture(Path("demo/a_class_nobody_labelled.png"))


def test_communities_fade_and_modularity_does_not_tell(run):
    clear, gone = (line.split() for line in run("185", "--inside", "0.9", "0.1").splitlines()[1:3])
    assert clear[1:3] == ["6", "1.00"]
    assert float(gone[2]) < 0.1
    assert float(gone[3]) > float(gone[4]) + 0.1
    assert_picture(Path("demo/when_communities_fade.png"))
