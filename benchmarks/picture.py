"""Draw a comparison over many problems: one dot per problem, its ratio to the fastest peer against its size."""

import json
import math
from pathlib import Path

COLOURS = {"MaxMargin float32": "#0072b2", "PDM float32": "#d55e00"}  # told apart by the colour-blind, and in grey


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
        ax.set(xscale="log", yscale="log", xlabel="non-zeros in the data")
        ax.set_title(f"{estimator}: faster on {faster} of {len(of_library)}")
        ax.axhline(1, color="0.4", linewidth=1)
        ax.grid(which="major", color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks([0.001, 0.01, 0.1, 1, 10, 100], ["1/1000", "1/100", "1/10", "as fast", "10 times", "100 times"])
    axes[0].set_ylabel("time, relative to the fastest LinearSVC")
    epsilon = rows[0]["epsilon"]
    figure.suptitle(f"Certified {100 * epsilon:g} % on problems drawn from seeds; a cross was not proven in time")
    figure.savefig(arguments.picture, dpi=120)
    print(f"{len(rows)} figures drawn in {arguments.picture}")
