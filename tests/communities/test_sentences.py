"""The overview says what was found, and no more than that."""

from dataclasses import replace

import numpy as np

from gramian.communities.sentences import overview


def test_the_clubs_in_words(divided):
    found, _ = divided
    told = found.sentences
    n, m = len(found.labels), found.edges.n_edges
    assert told[0].startswith(f"{n} nodes and {m} edges fall into 4 communities; ")
    assert f"reaches {np.mean(found.chance):.3f}" in told[1]
    assert told[2] == "The largest community has 16 nodes, the median one 13; 1 has fewer than 10."
    assert any(text.startswith("From fine to coarse there are ") for text in told)


def test_chance_loners_and_warnings_are_said(divided):
    found, _ = divided
    told = overview(replace(found, verdict="none", chance=[0.9]), 2, ["the model fell apart"])
    assert "these communities may be chance" in told[1]
    assert "2 nodes have no edges and no community." in told
    assert told[-1] == "The model fell apart."
    assert "not compared" in overview(replace(found, chance=[]), 0, [])[1]
    assert "take them with care" in overview(replace(found, verdict="weak"), 0, [])[1]
