"""The simulators of missing values: exact counts, old holes kept, no line emptied, the right mechanism."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gramian.mixture import ampute, block, mar_columns, mar_logistic, mcar, nmar_saturation, quadrant

GROUPS = [[0, 1, 2], [3, 4, 5]]
CALLS = {
    "mcar": {},
    "mar": {},
    "mar_logistic": {"driver": 2},
    "nmar": {},
    "block": {"groups": GROUPS},
    "quadrant": {"shape": (2, 4)},
}


@pytest.fixture
def rng():
    return np.random.default_rng(30)


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 8))


def with_old_holes(X, rng, share=0.05):
    """A copy with holes outside column 2, which the logistic mechanism needs complete."""
    X = X.copy()
    holes = rng.random(X.shape) < share
    holes[:, 2] = False
    X[holes] = np.nan
    return X


def emptied(X, mask):
    """Rows and columns that had a value and lost all, by a loop over lines."""
    had = ~np.isnan(X)
    lines = [(had[i], mask[i]) for i in range(len(X))] + [(had[:, j], mask[:, j]) for j in range(X.shape[1])]
    return sum(bool(h.any()) and bool(m.all()) for h, m in lines)


def attempt(simulate, *args, **options):
    """The mask and no refusal, or no mask and the text of the refusal."""
    try:
        return simulate(*args, **options)[1], ""
    except ValueError as error:
        return None, str(error)


class TestEveryMechanism:
    @pytest.mark.parametrize("mechanism", CALLS)
    def test_input_kept_holes_kept_mask_true(self, X, rng, mechanism):
        """The input is untouched, the rest of the copy equal, old holes stay, and the mask tells all holes."""
        holed = with_old_holes(X, rng)
        before = holed.copy()
        missing, mask = ampute(holed, mechanism, 0.2, random_state=1, **CALLS[mechanism])
        np.testing.assert_array_equal(holed, before)
        np.testing.assert_array_equal(mask, np.isnan(missing))
        assert mask[np.isnan(holed)].all()
        assert mask.sum() > np.isnan(holed).sum()
        np.testing.assert_array_equal(missing[~mask], holed[~mask])

    @pytest.mark.parametrize("mechanism", CALLS)
    def test_seeds_and_types(self, X, mechanism):
        """A seed repeats the holes; float32 stays; ints become float64."""
        call = CALLS[mechanism]
        first = ampute(X.astype(np.float32), mechanism, 0.2, random_state=3, **call)
        again = ampute(X.astype(np.float32), mechanism, 0.2, random_state=3, **call)
        np.testing.assert_array_equal(first[1], again[1])
        assert first[0].dtype == np.float32
        assert ampute(np.arange(480).reshape(60, 8), mechanism, 0.1, **call)[0].dtype == np.float64

    @pytest.mark.parametrize("mechanism", CALLS)
    def test_rate_zero_and_bad_rates(self, X, mechanism):
        """Rate 0 makes no hole; a rate that is no share is refused by name."""
        assert not ampute(X, mechanism, 0.0, random_state=0, **CALLS[mechanism])[1].any()
        for rate in (-0.1, 1.5, float("nan")):
            with pytest.raises(ValueError, match=f"rate={rate} is not a share"):
                ampute(X, mechanism, rate, **CALLS[mechanism])

    @pytest.mark.parametrize("mechanism", CALLS)
    def test_bad_tables_are_refused(self, mechanism):
        """Text, infinities and wrong shapes are refused with what to do."""
        call = CALLS[mechanism]
        with pytest.raises(ValueError, match="code categories as numbers"):
            ampute([["a", "b"]], mechanism, 0.1, **call)
        with pytest.raises(ValueError, match="X has infinite values"):
            ampute(np.full((3, 8), np.inf), mechanism, 0.1, **call)
        with pytest.raises(ValueError, match=r"X has shape \(3,\)"):
            ampute(np.ones(3), mechanism, 0.1, **call)

    def test_the_door_leads_to_the_functions(self, X):
        """Each mechanism name gives what its own function gives."""
        pairs = {
            "mcar": mcar(X, 0.2, random_state=5),
            "mar": mar_columns(X, 0.2, columns=(0, 3, 6), random_state=5),
            "mar_logistic": mar_logistic(X, 0.2, driver=2, random_state=5),
            "nmar": nmar_saturation(X, 0.2),
            "block": block(X, 0.2, groups=GROUPS, random_state=5),
            "quadrant": quadrant(X, 0.2, shape=(2, 4), random_state=5),
        }
        for mechanism, expected in pairs.items():
            result = ampute(X, mechanism, 0.2, random_state=5, **CALLS[mechanism])
            np.testing.assert_array_equal(result[1], expected[1])

    def test_unknown_names_are_refused(self, X):
        """A mechanism that does not exist and an option that does not belong are named."""
        with pytest.raises(ValueError, match=r"mechanism='mnar' is not known; pass one of mcar, mar,"):
            ampute(X, "mnar", 0.1)
        with pytest.raises(ValueError, match="columns is not an option of mechanism='mcar'"):
            ampute(X, "mcar", 0.1, columns=[1])


class TestCompletelyAtRandom:
    @given(st.integers(1, 9), st.integers(1, 9), st.floats(0, 1), st.floats(0, 0.5), st.integers(0, 2**31))
    @settings(max_examples=150, deadline=None)
    def test_exact_count_or_a_clear_error(self, n, d, rate, holes, seed):
        """Any feasible rate gives round(rate n d) holes and empties no line; the rest is refused."""
        rng = np.random.default_rng(seed)
        X = np.where(rng.random((n, d)) < holes, np.nan, 1.0)
        wanted, old = round(rate * n * d), int(np.isnan(X).sum())
        mask, refusal = attempt(mcar, X, rate, random_state=seed)
        if mask is None:
            assert f"rate={rate}" in refusal
            # Every cover of the lines that hold values has at least as many cells as there are such rows.
            had = ~np.isnan(X)
            needed = max(had.any(axis=1).sum(), had.any(axis=0).sum())
            assert wanted < old or n * d - wanted < needed or old > 0
        else:
            assert mask.sum() == wanted
            assert emptied(X, mask) == 0

    @given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**31))
    @settings(max_examples=60, deadline=None)
    def test_the_highest_possible_rate_is_reached(self, n, d, seed):
        """A complete table can be thinned to max(n, d) values, one per line, and not further."""
        kept = max(n, d)
        _, mask = mcar(np.ones((n, d)), 1 - kept / (n * d), random_state=seed)
        assert (~mask).sum() == kept
        assert emptied(np.ones((n, d)), mask) == 0
        if kept > 1:
            with pytest.raises(ValueError, match=r"without emptying a row or column; pass a lower rate"):
                mcar(np.ones((n, d)), 1 - (kept - 1) / (n * d), random_state=seed)

    def test_holes_that_are_there_count(self, X):
        """Ten old holes and rate 0.1 of 480 cells leave 38 new ones; a rate below the old holes is refused."""
        X[:10, 3] = np.nan
        assert mcar(X, 0.1, random_state=0)[1].sum() == 48
        with pytest.raises(ValueError, match=r"rate=0.01 is below the 0.02083 that X misses already"):
            mcar(X, 0.01)

    def test_all_patterns_equally_likely(self):
        """Where lines may be emptied, all 20 patterns of 3 holes in 3x2 cells come out evenly (χ² test)."""
        rng = np.random.default_rng(0)
        patterns = [tuple(mcar(np.ones((3, 2)), 0.5, allow_empty=True, random_state=rng)[1].flat) for _ in range(4000)]
        counts = Counter(patterns)
        assert len(counts) == 20
        assert sum((v - 200) ** 2 / 200 for v in counts.values()) < 43.8

    def test_only_offending_draws_are_repaired(self):
        """The guarantee leaves every draw as it is that empties no line, and repairs by as few cells as lines."""
        X, repaired = np.ones((6, 3)), 0
        for seed in range(300):
            plain = mcar(X, 0.5, allow_empty=True, random_state=seed)[1]
            guarded = mcar(X, 0.5, random_state=seed)[1]
            offending = emptied(X, plain)
            assert (plain & ~guarded).sum() <= offending
            repaired += offending > 0
            assert (offending > 0) == (not np.array_equal(plain, guarded))
        assert 50 < repaired < 250

    def test_independent_cells(self):
        """Without exact counts the number of holes is binomial around the rate, old holes included."""
        X = np.ones((400, 50))
        X[:100, :10] = np.nan
        counts = [mcar(X, 0.2, exact=False, random_state=seed)[1].sum() for seed in range(20)]
        assert abs(np.mean(counts) - 4000) < 5 * np.sqrt(3000 * 0.84 / 20)
        assert np.std(counts) > 10

    def test_independent_cells_empty_nothing(self):
        """At rate 0.9 on two columns most rows would go; each keeps one value."""
        X = np.ones((200, 2))
        assert emptied(X, mcar(X, 0.9, exact=False, random_state=0)[1]) == 0
        assert emptied(X, mcar(X, 0.9, exact=False, allow_empty=True, random_state=0)[1]) > 50

    def test_everything_may_go_when_allowed(self):
        """With allow_empty rate 1 removes all."""
        assert mcar(np.ones((4, 3)), 1.0, allow_empty=True)[1].all()


class TestColumns:
    def test_holes_only_in_the_columns(self, X):
        """round(rate n d) holes, all in the 1st, 4th and 7th column."""
        _, mask = mar_columns(X, 0.3, random_state=0)
        assert mask.sum() == round(0.3 * 480)
        assert not mask[:, [1, 2, 4, 5, 7]].any()

    def test_the_wine_limit(self):
        """On 13 columns three of them hold 23.1 % at most; one value per column must stay."""
        X = np.ones((178, 13))
        assert mar_columns(X, 0.229, random_state=0)[1].sum() == round(0.229 * X.size)
        with pytest.raises(ValueError, match=r"rate=0.25 asks for 578 more holes, 531 are possible"):
            mar_columns(X, 0.25)

    @pytest.mark.parametrize("columns", [(0, 3, 8), (-1,), (), (0.5,), "ab"])
    def test_columns_must_exist(self, X, columns):
        """An index outside the table, none at all or no index is refused by name."""
        with pytest.raises(ValueError, match=r"columns=.* must be column indices from 0 to 7"):
            mar_columns(X, 0.1, columns=columns)


class TestLogistic:
    def test_expected_rate_and_dependence(self, rng):
        """The share of holes is the rate, and the log odds rise with the driver by the slope."""
        X = rng.normal(5, 3, size=(20_000, 5))
        _, mask = mar_logistic(X, 0.2, driver=1, slope=2.0, random_state=0)
        assert mask.mean() == pytest.approx(0.2, abs=0.01)
        assert not mask[:, 1].any()
        z = (X[:, 1] - X[:, 1].mean()) / X[:, 1].std()
        low, high = (mask[np.abs(z - c) < 0.1][:, [0, 2, 3, 4]].mean() for c in (-0.5, 0.5))
        assert np.log(high / (1 - high)) - np.log(low / (1 - low)) == pytest.approx(2.0, abs=0.25)

    def test_old_holes_count_and_columns_limit(self, X):
        """Old holes are part of the expected rate; other columns than those listed stay whole."""
        X[:30, 4] = np.nan
        shares = [mar_logistic(X, 0.2, driver=0, columns=[4, 5, 6], random_state=s)[1].mean() for s in range(40)]
        assert np.mean(shares) == pytest.approx(0.2, abs=0.01)
        _, mask = mar_logistic(X, 0.2, driver=0, columns=[4, 5, 6], random_state=0)
        assert not mask[:, [0, 1, 2, 3, 7]].any()

    def test_a_constant_driver_is_mcar(self):
        """A driver that never varies gives every row the same chance."""
        _, mask = mar_logistic(np.ones((5000, 3)), 0.3, random_state=0)
        assert mask[:, 1:].mean() == pytest.approx(0.45, abs=0.02)

    def test_columns_keep_a_value(self):
        """At a rate where columns of a short table would go, each keeps one value."""
        X = np.arange(12.0).reshape(3, 4)
        for seed in range(50):
            assert emptied(X, mar_logistic(X, 0.7, random_state=seed)[1]) == 0

    def test_bad_drivers(self, X):
        """A driver with holes, outside the table or among the columns, and a rate out of reach, are refused."""
        with pytest.raises(ValueError, match=r"driver=\[9\]|driver=9"):
            mar_logistic(X, 0.1, driver=9)
        with pytest.raises(ValueError, match="contain the driver 0"):
            mar_logistic(X, 0.1, driver=0, columns=[0, 1])
        with pytest.raises(ValueError, match=r"rate=0.9 needs 432 more holes of 420 cells"):
            mar_logistic(X, 0.9)
        X[3, 0] = np.nan
        with pytest.raises(ValueError, match="driver=0 has holes"):
            mar_logistic(X, 0.1)


class TestSaturation:
    def test_the_largest_values_go(self, X):
        """In every column exactly the round(rate n) largest values are missing."""
        _, mask = nmar_saturation(X, 0.25)
        for j in range(X.shape[1]):
            assert set(np.flatnonzero(mask[:, j])) == set(np.argsort(X[:, j])[-15:])

    def test_ties_go_in_row_order(self):
        """Among equal values the first rows lose theirs."""
        _, mask = nmar_saturation(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [1.0, 3.0]]), 0.25)
        assert np.argwhere(mask).tolist() == [[0, 0], [2, 1]]

    def test_old_holes_count_per_column(self, X):
        """Five old holes leave ten new ones; a column past the rate loses nothing."""
        X[:5, 0] = np.nan
        X[:20, 1] = np.nan
        _, mask = nmar_saturation(X, 0.25)
        assert mask.sum(axis=0).tolist() == [15, 20, 15, 15, 15, 15, 15, 15]

    def test_a_row_of_maxima_keeps_one_value(self):
        """A row that is largest everywhere keeps its least extreme value; the next one of that column goes."""
        X = np.array([[9.0, 7.0], [1.0, 8.0], [2.0, 1.0], [3.0, 2.0]])
        # Row 0 gives back 7, so 2 goes from row 3, which then gives back 3, so 2 goes from row 2.
        _, mask = nmar_saturation(X, 0.5)
        assert mask.tolist() == [[True, False], [False, True], [True, False], [False, True]]
        twins = np.tile([[2.0], [1.0]], (2, 3))
        assert emptied(twins, nmar_saturation(twins, 0.5)[1]) == 0
        assert nmar_saturation(twins, 0.5, allow_empty=True)[1].all(axis=1).tolist() == [True, False, True, False]

    @given(st.integers(2, 10), st.integers(1, 6), st.floats(0, 0.95), st.integers(0, 2**31))
    @settings(max_examples=80, deadline=None)
    def test_counts_and_no_empty_line(self, n, d, rate, seed):
        """Whatever the table, either each column has its count and no line is empty, or the rate is refused."""
        X = np.random.default_rng(seed).integers(0, 4, (n, d)).astype(float)
        assume(round(rate * n) < n)
        mask, refusal = attempt(nmar_saturation, X, rate)
        if mask is None:
            assert "would leave rows without a value" in refusal
            assert round(rate * n) * d > 0.5 * n * (d - 1)
        else:
            assert (mask.sum(axis=0) == round(rate * n)).all()
            assert emptied(X, mask) == 0

    @pytest.mark.parametrize("rate", [1.0, 0.999])
    def test_everything_is_an_error(self, X, rate):
        """A rate that takes whole columns is refused, even when empty rows are allowed."""
        with pytest.raises(ValueError, match=rf"rate={rate} would empty every column of 60 rows"):
            nmar_saturation(X, rate, allow_empty=True)


class TestQuadrant:
    @pytest.mark.parametrize(("h", "w"), [(28, 28), (5, 4)])
    def test_one_quadrant_in_the_right_number_of_images(self, h, w):
        """Exactly round(rate n) images lose one corner rectangle, cut at half height and width."""
        images = np.ones((50, h, w))
        missing, mask = quadrant(images, 0.3, random_state=0)
        assert missing.shape == images.shape
        hit = np.flatnonzero(mask.any(axis=(1, 2)))
        assert len(hit) == 15
        rows, columns = (slice(None, h // 2), slice(h // 2, None)), (slice(None, w // 2), slice(w // 2, None))
        corners = []
        for i in hit:
            for r, c in itertools.product(rows, columns):
                expected = np.zeros((h, w), dtype=bool)
                expected[r, c] = True
                if np.array_equal(mask[i], expected):
                    corners.append((r.start, c.start))
        assert len(corners) == 15
        flat, flat_mask = quadrant(images.reshape(50, -1), 0.3, shape=(h, w), random_state=0)
        np.testing.assert_array_equal(flat_mask, mask.reshape(50, -1))
        assert flat.shape == (50, h * w)

    def test_quadrants_are_uniform(self):
        """All four corners are hit about equally often."""
        _, mask = quadrant(np.ones((4000, 2, 2)), 1.0, random_state=0)
        counts = mask.reshape(4000, 4).sum(axis=0)
        assert counts.sum() == 4000
        assert ((counts - 1000) ** 2 / 1000).sum() < 16.3

    def test_an_image_keeps_a_quadrant_and_a_pixel_an_image(self):
        """An image with one quadrant left never loses it, and two images never lose the same one."""
        images = np.ones((3, 4, 4))
        images[0, 2:] = images[0, :, 2:] = np.nan
        for seed in range(60):
            _, mask = quadrant(images, 1.0, random_state=seed)
            assert emptied(images.reshape(3, 16), mask.reshape(3, 16)) == 0
        with pytest.raises(ValueError, match=r"rate=1.0 keeps emptying pixels of 1 images"):
            quadrant(images[1:2], 1.0)

    def test_bad_shapes(self):
        """A shape that does not fit, and rows without a shape, are refused."""
        with pytest.raises(ValueError, match=r"shape=\(3, 3\) has 9 pixels but X has 8"):
            quadrant(np.ones((4, 8)), 0.5, shape=(3, 3))
        with pytest.raises(ValueError, match=r"with shape=\(h, w\)"):
            quadrant(np.ones((4, 8)), 0.5)

    def test_images_with_nothing_to_lose(self):
        """Images that hold a single value cannot lose a quadrant with it."""
        images = np.full((4, 2, 2), np.nan)
        images[:, 0, 0] = 1.0
        images[0] = 1.0
        _, mask = quadrant(images, 1.0, random_state=0)
        assert emptied(images.reshape(4, 4), mask.reshape(4, 4)) == 0


class TestBlock:
    def test_groups_go_together(self, X):
        """Each row loses whole groups, round(rate n g) of them in all; columns in no group stay."""
        _, mask = block(X, 0.4, groups=GROUPS, random_state=0)
        lost = np.stack([mask[:, group].all(axis=1) for group in GROUPS], axis=1)
        assert lost.sum() == round(0.4 * 120)
        assert mask.sum() == 3 * lost.sum()
        assert not mask[:, 6:].any()

    def test_a_row_keeps_a_group(self, rng):
        """When the groups make up the table no row loses them all, up to the highest rate."""
        X = rng.normal(size=(40, 6))
        _, mask = block(X, 0.5, groups=GROUPS, random_state=0)
        assert (mask.sum(axis=1) == 3).all()
        assert emptied(X, mask) == 0
        with pytest.raises(ValueError, match=r"asks for 48 more holes, 40 are possible"):
            block(X, 0.6, groups=GROUPS)

    def test_independent_groups(self, rng):
        """Without exact counts each pair of row and group goes with the rate as its chance."""
        X = rng.normal(size=(5000, 8))
        _, mask = block(X, 0.3, groups=GROUPS, exact=False, random_state=0)
        shares = [mask[:, group].all(axis=1).mean() for group in GROUPS]
        np.testing.assert_allclose(shares, 0.3, atol=0.03)
        assert np.logical_and(mask[:, 0], mask[:, 3]).mean() == pytest.approx(0.09, abs=0.02)

    def test_old_holes_count_when_the_group_is_gone(self, X):
        """A group missing in a row already counts as one; a hole inside a group does not."""
        X[0, :3] = np.nan
        X[1, 0] = np.nan
        _, mask = block(X, 0.25, groups=GROUPS, random_state=0)
        lost = np.stack([mask[:, group].all(axis=1) for group in GROUPS], axis=1)
        assert lost.sum() == 30
        assert lost[0, 0]

    def test_a_column_with_old_holes_keeps_its_value(self):
        """Where one row alone holds a column, its group is drawn elsewhere."""
        X = np.ones((4, 4))
        X[1:, 0] = np.nan
        for seed in range(40):
            assert emptied(X, block(X, 0.25, groups=[[0, 1], [2, 3]], random_state=seed)[1]) == 0
        X = np.array([[1.0, np.nan, 1.0], [np.nan, 1.0, 1.0]])
        with pytest.raises(ValueError, match="keeps emptying columns"):
            block(X, 0.5, groups=[[0, 1]])

    @pytest.mark.parametrize("groups", [None, [], [[0, 1], [1, 2]], [[9]], [[]]])
    def test_bad_groups(self, X, groups):
        """Groups that are missing, overlap or name no column are refused."""
        with pytest.raises(ValueError, match="groups="):
            block(X, 0.1, groups=groups)
