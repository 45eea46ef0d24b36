"""Which measurement of ``benchmarks/results.json`` stands where on the performance page, and what it is called there.

Data only; ``performance_pages`` reads it. A measurement that is not listed here still appears, under the last heading
and with the words of its benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Question:
    """One benchmark on the page.

    Parameters
    ----------
    case : str
        Its name in results.json.
    title : str
        The question in a few words; the words of the benchmark if empty.
    scores : dict
        Scores to show beside the times, with the words for them.
    seconds : str
        The score that holds the time in question. If empty, the processor time where every side has one, and the time
        on the clock otherwise.
    rivals : tuple of str
        Sides that are other software and do the same; the first picture shows them.
    times : dict
        Factors for the times of sides that did only a part of the work.
    megabytes : str
        The score that holds the memory in question, where other processes than that of the benchmark do the work.
    """

    case: str
    title: str = ""
    scores: dict[str, str] = field(default_factory=dict)
    seconds: str = ""
    rivals: tuple[str, ...] = ()
    times: dict[str, float] = field(default_factory=dict)
    megabytes: str = ""


@dataclass(frozen=True)
class Growth:
    """Time of one task against the size of its data: (size, case, side) for each point; side "" is the first."""

    name: str
    points: tuple[tuple[float, str, str], ...]


OTHER = "Other measurements"

_SKLEARN = ("scikit-learn",)
_EIGEN = {"residual": "residual", "largest_value_missed_by": "eigenvalue missed by"}
_PYMANOPT = ("pymanopt Stiefel, to 0.1 %", "pymanopt Grassmann, to 0.1 %")
_BEHIND = {"behind_best_percent": "% behind the best"}
_LEIDEN = {"ari": "ARI", "q": "modularity", "k": "communities"}
_HOLES = {name: name for name in ("breast_w", "dermatology", "ecoli", "iris", "wdbc", "wine")}
_CLUSTERS = {"accuracy": "accuracy", "mutual_information": "NMI"}
_EXPLORE = {"groups": "groups", "report_mb": "MB of report"}
_WORKERS = {"worker_peak_mb": "MB in a worker"}

TOPICS: dict[str, tuple[Question, ...]] = {
    "Clusters": (
        Question(
            "spectral_blobs",
            "Spectral clustering, 20,000 rows, 10 blobs in 10-D",
            {"ari": "ARI"},
            rivals=("scikit-learn arpack", "scikit-learn lobpcg"),
        ),
        Question(
            "spectral_rings",
            "Spectral clustering, 20,000 rows, 2 rings",
            {"ari": "ARI"},
            rivals=("scikit-learn arpack", "scikit-learn lobpcg"),
        ),
        Question("spectral_million", "Spectral clustering through 200 landmarks, 1,000,000 × 10", {"ari": "ARI"}),
        Question(
            "ksc_selection",
            "KSC: ten widths × nine numbers of clusters",
            {"ari": "ARI"},
            rivals=("scikit-learn, ten runs with the number given",),
        ),
        Question("ksc_assign", "KSC: 10,000 rows fitted, 100,000 assigned", {"ari": "ARI"}),
        Question("ksc_million", "KSC: 1,000,000 rows, 200 pivots", {"ari": "ARI"}),
        Question(
            "semi_supervised_letter",
            "letter: ten labels of each class, 300 landmarks",
            {"accuracy": "accuracy"},
            "fit_seconds",
            _SKLEARN,
        ),
        Question(
            "semi_supervised_magic",
            "magic: ten labels of each class, 300 landmarks",
            {"accuracy": "accuracy"},
            "fit_seconds",
            _SKLEARN,
        ),
    ),
    "Tables with holes": (
        Question(
            "ensemble_complete",
            "870 mixtures of 5,000 × 20, for the cluster kernel",
            rivals=("scikit-learn, joblib loop",),
        ),
        Question(
            "ensemble_missing",
            "870 mixtures with 30 % of the cells missing",
            rivals=("KNNImputer, joblib loop", "IterativeImputer, joblib loop"),
        ),
        Question(
            "incomplete_mixture",
            "10 Gaussians, 20,000 × 20, 20 % missing",
            {"mean_log_likelihood": "log-likelihood"},
            rivals=("textbook, pattern by pattern",),
        ),
        Question("new_rows", "Features of 1,000 new rows, fit included", {"share_of_fit": "share of the fit"}),
        Question("cluster_rows_10000", "Cluster 10,000 × 20, 20 % missing", {"ari": "ARI"}),
        Question("cluster_rows_100000", "Cluster 100,000 × 20, 20 % missing", {"ari": "ARI"}),
        Question("cluster_rows_1000000", "Cluster 1,000,000 × 20, 20 % missing", {"ari": "ARI"}),
        Question("holes_accuracy", "Accuracy of clusters with 30 % missing, six real tables, five draws", _HOLES),
    ),
    "gramian explore": tuple(
        Question(case, title, _EXPLORE, megabytes="command_peak_mb")
        for case, title in (
            ("explore_1k", "1,000 × 20, 10 % missing, from the file to the report"),
            ("explore_100k", "100,000 × 20"),
            ("explore_1m", "1,000,000 × 20"),
            ("explore_categories_200k", "200,000 × 6, most of them categories"),
        )
    ),
    "Maps, eigenvectors and landmarks": (
        Question(
            "kernel_pca",
            "Exact kernel PCA, 10,000 × 20, 20 components",
            {"largest_eigenvalue_error": "eigenvalue error"},
            rivals=("scikit-learn arpack", "scikit-learn randomized"),
        ),
        Question("kernel_pca_transform", "KernelPCA.transform: 5,000 rows fitted, 20,000 new", rivals=_SKLEARN),
        Question(
            "kernel_pca_landmarks",
            "Kernel PCA through 1,000 landmarks, 100,000 × 20",
            {"eigenvalue_error": "eigenvalue error"},
        ),
        Question("nystroem_features", "1,000 Nyström features of 100,000 × 20", rivals=_SKLEARN),
        Question("nystroem_ridge", "1,000 Nyström features and ridge regression", {"test_r2": "R²"}, rivals=_SKLEARN),
        Question(
            "landmark_selection",
            "Which 200 landmarks? Seven tables, two widths",
            {"mean_error": "kernel error", "mean_test_r2": "R²"},
        ),
        Question("eigen_dense", "20 eigenpairs, dense, n = 5,000", _EIGEN, rivals=("ARPACK", "LOBPCG")),
        Question("eigen_blobs", "20 eigenpairs, graph of 20 blobs, n = 20,000", _EIGEN, rivals=("ARPACK", "LOBPCG")),
        Question("eigen_moons", "20 eigenpairs, graph of two moons, n = 10,000", _EIGEN, rivals=("ARPACK", "LOBPCG")),
    ),
    "Prediction": (
        Question(
            "lssvm_sweep_500",
            "Width and ridge chosen, 500 × 10",
            {"r2": "R²"},
            rivals=("GridSearchCV(KernelRidge)",),
        ),
        Question(
            "lssvm_sweep_1200",
            "Width and ridge chosen, 1,200 × 10",
            {"r2": "R²"},
            rivals=("GridSearchCV(KernelRidge)",),
        ),
        Question(
            "lssvm_given_9000",
            "Kernel ridge with all given, 9,000 × 20",
            {"relative_error": "relative error"},
            rivals=("KernelRidge",),
        ),
        Question(
            "lssvm_loo_4000",
            "4,000 × 20, leave-one-out (KernelRidge: fit only)",
            {"relative_error": "relative error"},
            rivals=("KernelRidge",),
        ),
        Question(
            "fixed_size",
            "Fixed-size LS-SVM, 100,000 × 20, 500 prototypes",
            {"accuracy": "accuracy"},
            "fit_seconds",
            _SKLEARN,
        ),
        Question(
            "interval_coverage",
            "Share of new targets inside intervals of 90 %",
            {name: name for name in ("diabetes", "friedman 1", "friedman 3", "electricity", "temperature")},
        ),
        Question(
            "neural_kernel_digits",
            "Digits: network of Fourier features, against SVC",
            {"accuracy": "accuracy"},
            "fit_seconds",
            ("scikit-learn SVC(rbf)",),
        ),
    ),
    "Ranking and PageRank": (
        Question(
            "pagerank_undirected",
            "PageRank of one seed, 1,000,000 nodes, undirected",
            {"l1_error": "L1 error"},
            rivals=("SciPy loop", "scikit-network", "igraph prpack", "fast-pagerank"),
        ),
        Question(
            "pagerank_directed",
            "PageRank of one seed, 1,000,000 nodes, directed",
            {"l1_error": "L1 error"},
            rivals=("SciPy loop", "igraph prpack", "fast-pagerank"),
        ),
        Question(
            "pagerank_64_seeds",
            "PageRank of 64 seeds, 1,000,000 nodes",
            {"l1_error": "L1 error"},
            rivals=("scikit-network",),
        ),
        Question("push_top100", "The best 100 nodes for each of 16 seeds", {"right_of_100": "right of 100"}),
        Question(
            "kernel_pagerank_queries",
            "1,000 queries on 100,000 rows, after fit",
            {"ndcg_at_50": "NDCG of 50"},
            times={"exact, 4 queries": 250.0},
        ),
        Question("kernel_pagerank_new_rows", "Scores of 10,000 new rows beside 100,000 fitted ones"),
    ),
    "Dependence": (
        Question(
            "hsic_alignment",
            "Unbiased HSIC, normalised, 5,000 rows",
            {"hsic": "HSIC"},
            rivals=("hyppo",),
        ),
        Question("hsic_trace", "Biased HSIC, beside tr(KHLH) as printed", {"hsic": "HSIC"}),
        Question(
            "hsic_gamma",
            "HSIC test without permutations, 5,000 rows",
            {"p-value": "p-value"},
            rivals=("hyppo chi2",),
        ),
        Question(
            "hsic_permutation",
            "HSIC test by 200 permutations, 2,000 rows",
            {"p-value": "p-value"},
            rivals=("hyppo",),
        ),
        Question("hsic_large", "HSIC of 100,000 rows in linear time, median width", {"error %": "% error"}),
        Question("hsic_large_narrow", "HSIC of 100,000 rows in linear time, width 4", {"error %": "% error"}),
        Question("projection_wine", "Projection by labels, Wine, 20 times", _BEHIND, rivals=_PYMANOPT),
        Question("projection_cancer", "Projection by labels, Cancer, 5 times", _BEHIND, rivals=_PYMANOPT),
        Question("projection_faces", "Projection by labels, faces 624 × 960", _BEHIND, rivals=_PYMANOPT),
        Question("projection_images_2k", "Projection by labels, 2,000 images", _BEHIND, rivals=_PYMANOPT),
        Question("projection_images", "Projection by labels, 10,000 images", _BEHIND, rivals=_PYMANOPT),
        Question(
            "projection_million",
            "Projection by labels, 1,000,000 × 50, through landmarks",
            {"sine_to_hidden_plane": "sine to the true plane"},
        ),
        Question("projection_clusters_2k", "Projection and clusters without labels, 2,000 images", {"nmi": "NMI"}),
        Question(
            "projection_clusters",
            "The same, 10,000 images; one turn of the thesis is timed",
            {"nmi": "NMI", "turns": "turns"},
        ),
    ),
    "Communities of networks": tuple(
        Question(case, title, _LEIDEN, rivals=("igraph Leiden",))
        for case, title in (
            ("communities_100k_20", "20 communities of 100,000 nodes"),
            ("communities_100k", "100 communities of 100,000 nodes"),
            ("communities_100k_unknown", "100 communities of 100,000 nodes, number unknown"),
            ("communities_1m", "50 communities of 1,000,000 nodes"),
            ("communities_livejournal_size", "4.0 million nodes, 34.7 million edges"),
            ("communities_youtube_size", "1.1 million nodes, 3.0 million edges, hardly any communities"),
            ("communities_road_size", "2.0 million nodes like a road network"),
        )
    ),
    "Series": (
        Question(
            "reservoir_fit",
            "Echo state network, 100,000 steps, 500 units",
            {"nrmse": "NRMSE"},
            "fit_processor_seconds",
            ("reservoirpy",),
        ),
        Question(
            "reservoir_million", "Echo state network, 1,000,000 steps", {"nrmse": "NRMSE"}, "fit_processor_seconds"
        ),
        Question("reservoir_many", "32 networks of 300 units, 10,000 steps", {}, "wall_seconds"),
        Question(
            "reservoir_invariants",
            "Correlation dimension of 3,000 points (true: 2.05)",
            {"dimension": "dimension", "exponent": "exponent"},
            "dimension_seconds",
            ("nolds, delays of one",),
        ),
        Question(
            "reservoir_dimension",
            "Correlation dimension of 100,000 points of Lorenz",
            {"dimension": "dimension"},
            "dimension_seconds",
        ),
        Question(
            "reservoir_errors",
            "Errors (NRMSE) of benchmark series, three horizons each",
            {name: name.replace("_", "–") for name in ("laser", "mackey_glass", "sunspots", "melbourne")},
        ),
        Question(
            "reservoir_search",
            "Search of 300 candidates",
            {"validation_nrmse": "NRMSE", "evaluations": "candidates fitted"},
        ),
        Question(
            "forecast_mstl",
            "Forecasts of half-hourly load, 60 origins",
            {"electricity_taylor": "MASE"},
            "electricity_taylor_processor_seconds",
            ("statsforecast MSTL",),
        ),
        Question(
            "forecast_ten",
            "Ten series: error over that of the best simple rule",
            {"mean_ratio": "mean", "largest_ratio": "largest"},
        ),
        Question(
            "forecast_victoria",
            "Hourly load of Victoria, 24 steps, with temperature and holidays, and without (MASE)",
            {name: name.replace("_", " ") for name in ("networks", "lags", "seasonal_naive", "naive")},
        ),
        Question(
            "forecast_coverage",
            "Share of steps inside bands of 90 %",
            {
                "electricity_victoria": "Victoria",
                "exchange_rate": "exchange rate",
                "sunspots_monthly": "sunspots",
                "santafe_laser": "laser",
            },
        ),
        Question(
            "forecast_holes",
            "Hourly load with a fifth lost, and complete (NRMSE)",
            {"nrmse_1": "one step", "nrmse_24": "24 steps"},
        ),
    ),
    "Networks that are trained": (
        Question("deep_digits", "1,797 digits of 8×8 pixels, ten clusters", _CLUSTERS),
        Question("deep_ring", "A disc in a ring, 2,000 points, from random weights, best of three runs", _CLUSTERS),
        Question("deep_fashion", "20,000 pieces of clothing of 28×28 pixels, ten clusters", _CLUSTERS),
        Question("deep_coil", "1,440 views of 20 objects, 32×32 pixels", _CLUSTERS),
        Question(
            "deep_step",
            "A step of DivergenceClustering on 28 × 28 images, batches of 100",
            {"ratio": "time over that of a bare loop with cross-entropy"},
            "seconds",
        ),
        Question("deep_memory", "A kernel as prior, asked block by block, 20,000 images"),
        Question(
            "deep_alignment",
            "Digits: distance of codes of new rows to the cluster kernel",
            {"distance": "distance", "error": "error"},
        ),
        Question(
            "deep_holes",
            "Digits with 20 % holes: error in the holes over that of means",
            {"distance": "distance", "error_of_the_means": "error"},
        ),
        Question(
            "kernel_net_tables",
            "Clusters of four tables (NMI)",
            {"nmi_moon": "moon", "nmi_wine": "wine", "nmi_cancer": "cancer", "nmi_face": "face"},
        ),
        Question("kernel_net_spiral", "Three spirals: 300 points fitted, 30,000 labelled", {"nmi": "NMI"}),
    ),
    "More than one process": tuple(
        Question(case, title, scores)
        for case, title, scores in (
            ("workers_kernel_pca", "Kernel PCA through 300 landmarks, 4,000,000 × 20", _WORKERS),
            ("workers_speed_up", "The same rows by one worker and by two", _WORKERS),
            ("workers_classifier", "Fixed-size LS-SVM, 4,000,000 × 20", {"accuracy": "accuracy", **_WORKERS}),
            (
                "workers_spectral",
                "Spectral clustering, 2,000,000 rows; 200,000 in one process",
                {"ari": "ARI", **_WORKERS},
            ),
            ("workers_auto", "AutoClustering, 2,000,000 rows; 200,000 in one process", {"ari": "ARI", **_WORKERS}),
            (
                "workers_explore",
                "gramian explore, 5,000,000 × 20; 1,000,000 in one process",
                {"groups": "groups", **_WORKERS},
            ),
        )
    ),
    "Import": (Question("import_time", "importing, beside import sklearn.cluster", {}, "import_s", _SKLEARN),),
}

GROWTH = (
    Growth(
        "gramian explore, 20 columns",
        ((1e3, "explore_1k", ""), (1e5, "explore_100k", ""), (1e6, "explore_1m", "")),
    ),
    Growth(
        "clusters of rows with holes",
        tuple((n, f"cluster_rows_{n}", "") for n in (10_000, 100_000, 1_000_000)),
    ),
    Growth(
        "projection by labels",
        (
            (1e5, "projection_million", "gramian, 100,000 rows"),
            (3e5, "projection_million", "gramian, 300,000 rows"),
            (1e6, "projection_million", ""),
        ),
    ),
    Growth("KSC, 200 pivots", ((1e5, "ksc_million", "gramian, 100,000 rows"), (1e6, "ksc_million", ""))),
    Growth(
        "communities of nodes",
        ((1e5, "communities_100k", ""), (1e6, "communities_1m", ""), (3997962, "communities_livejournal_size", "")),
    ),
    Growth("steps of an echo state network", ((1e5, "reservoir_fit", ""), (1e6, "reservoir_million", ""))),
)
