"""Draw a comparison over many problems: one dot per problem, its ratio to the fastest peer against its size."""

import json
import math
from pathlib import Path

from dynmargin.displays.style import BOUND, INK, PROVEN, QUIET, few_ticks, tidy

COLOURS = {"MaxMargin float32": PROVEN, "PDM float32": BOUND}


def add_arguments(parser):
    parser.add_argument("figures", help="compare.json of a comparison")
    parser.add_argument("picture", help="the PNG file to write")


def run(arguments):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    rows = [row for row in json.loads(Path(arguments.figures).read_text()) if math.isfinite(row["ratio"])]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for ax, (library, colour) in zip(axes, COLOURS.items(), strict=True):
        of_library = [row for row in rows if row["library"] == library]
        for reached, marker in ((True, "o"), (False, "x")):
            dots = [row for row in of_library if row["reached"] is reached]
            sizes, ratios = [row["nonzeros"] for row in dots], [row["ratio"] for row in dots]
            filling = {"alpha": 0.7, "linewidths": 0} if reached else {}
            ax.scatter(sizes, ratios, s=24, marker=marker, color=colour, **filling)
        faster = sum(row["ratio"] < 1 for row in of_library)
        estimator = {"MaxMargin float32": "MaxMarginClassifier", "PDM float32": "PDMClassifier"}[library]
        ax.set(yscale="log", xlabel="non-zeros in the data")
        known = [row["nonzeros"] for row in of_library]
        few_ticks(ax.xaxis, min(known, default=1.0), max(known, default=1.0), log=True)
        ax.axhline(1, color=QUIET, linewidth=1)
        ax.minorticks_off()
        tidy(ax, f"{estimator}: faster on {faster} of {len(of_library)}", grid="both")
    axes[0].set_yticks([0.001, 0.01, 0.1, 1, 10, 100], ["1/1000", "1/100", "1/10", "as fast", "10 times", "100 times"])
    axes[0].set_ylabel("time, relative to the fastest LinearSVC")
    epsilon = rows[0]["epsilon"]
    figure.suptitle(
        f"Certified {100 * epsilon:g} % on problems drawn from seeds; a cross was not proven in time", color=INK
    )
    figure.savefig(arguments.picture, dpi=120)
    print(f"{len(rows)} figures drawn in {arguments.picture}")
