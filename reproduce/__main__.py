"""``python -m reproduce [name ...]``: run experiments, print published and our figures; without a name, list them."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from reproduce.table import Experiment, Options, write_csv

MODULES = (
    "pckid_wine",
    "pckid_mnist",
    "pckid_ranking",
    "pckid_land_cover",
    "pckid_land_cover_pairs",
    "evidence_accumulation",
    "kppr_ordering",
    "kppr_out_of_sample",
    "kppr_leave_one_out",
    "kppr_denoising",
    "joint_tables",
    "joint_clouds",
    "joint_faces",
    "joint_documents",
    "joint_schooling",
    "joint_digits",
    "kdn_tables",
    "kdn_figures",
    "kdn_chain",
    "kdn_mlp",
    "ism_tables",
    "kdac_tables",
    "kdac_selection",
    "projection_rivals",
    "dependence_figures",
    "lssvm_fixed_size",
    "double_descent",
    "lssvm_load",
    "lssvm_multiview",
    "ksc_semi_supervised",
    "lssvm_indefinite",
    "kca_denoising",
    "lssvm_robust",
    "ksc_networks",
    "esn_table1",
    "esn_table3",
    "esn_table4",
    "esn_figures",
    "esn_sequences",
    "ksc_days",
    "ksc_selection",
    "ksc_indefinite",
    "dkae_tables",
    "knet_tables",
    "ddc_tables",
    "ddc_figures",
    "dkae_figures",
    "knet_figures",
    "multiview_network",
    "neural_kernel",
)
ROOT = Path(__file__).parent.parent


def main(arguments: list[str]) -> int:
    experiments: dict[str, Experiment] = {name: import_module(f"reproduce.{name}").EXPERIMENT for name in MODULES}
    given = _parser().parse_args(arguments)
    if not given.names:
        widest = max(map(len, experiments)) + 2
        for name, experiment in experiments.items():
            print(f"{name:<{widest}}{experiment.title} ({experiment.runs} runs unless --runs says otherwise)")
        return 0
    unknown = [name for name in given.names if name not in experiments]
    if unknown:
        print(f"no experiment {', '.join(unknown)}; there are: {', '.join(experiments)}", file=sys.stderr)
        return 2
    options = Options(
        runs=given.runs,
        rates=tuple(given.rates) if given.rates else None,
        datasets=tuple(given.datasets) if given.datasets else None,
        restarts=given.restarts,
        components=given.components,
        samples=given.samples,
        rbf_convention=given.rbf_convention,
        data=given.data,
        jobs=given.jobs,
        full=given.full,
        pictures=given.out.parent if given.out else Options.pictures,
    )
    print(_conditions(), end="\n\n")
    everything = []
    for name in given.names:
        start = time.perf_counter()
        records, report = experiments[name].run(options)
        print(f"{report}\n{name} took {time.perf_counter() - start:.0f} s.", flush=True)
        everything += records
        if given.out:
            write_csv(everything, given.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m reproduce", description="Published figures computed again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments; none lists them")
    parser.add_argument("--runs", type=_positive, help="repetitions (the PCKID paper has 30)")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--quick", action="store_true", help="the small budget, which is what runs without --full too")
    budget.add_argument("--full", action="store_true", help="as many repetitions as the paper (esn_table3: 32)")
    parser.add_argument("--rates", type=float, nargs="+", metavar="RATE", help="only these rates (or widths)")
    parser.add_argument("--datasets", nargs="+", metavar="TABLE", help="only these tables (pckid_ranking, kppr_*)")
    parser.add_argument("--restarts", type=_positive, default=30, help="of each cluster kernel")
    parser.add_argument("--components", type=_positive, default=30, help="most of a mixture in a cluster kernel")
    parser.add_argument("--samples", type=_positive, help="rows drawn (mnist, land cover, digits) or left out in turn")
    parser.add_argument(
        "--rbf-convention", choices=("half", "paper"), default="half", help="exp(-d²/2σ²) or exp(-d²/σ²) (ranking)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write every single score to this CSV file, figures beside it"
    )
    parser.add_argument("--jobs", type=_positive, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("GRAMIAN_DATA", ROOT.parent / "shared" / "data")),
        metavar="FOLDER",
        help="where images/mnist.npz and shapes/sipu.npz lie; otherwise the environment variable GRAMIAN_DATA says",
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive; pass a whole number >= 1")
    return number


def _conditions() -> str:
    """What the figures may depend on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    packages = ", ".join(f"{name} {version(name)}" for name in ("gramian", "numpy", "scipy", "scikit-learn"))
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return f"{date}, commit {commit.stdout.strip() or 'unknown'}, Python {platform.python_version()}, {packages}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
