"""``python -m tests.mutate_proofs``: drop each term of the proofs and see whether a test notices.

All mutants are compiled at once, each behind a switch that an environment variable sets, in a copy of the sources: one
build, then one run of `TESTS` for each. Needs what an editable install
needs (scikit-build-core, nanobind) and fork, and some twenty minutes. Exit code 1 if a mutant survives that is not
known to be covered, or the other way round.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = [f"tests/test_{name}.py" for name in ("proof_terms", "ball_terms", "oracle", "settled")]
SWITCH = """#pragma once
#include <cstdlib>
inline bool mutant(int number) {
  static const int chosen = [] {
    const char* text = std::getenv("DYNMARGIN_MUTANT");
    return text ? std::atoi(text) : 0;
  }();
  return chosen == number;
}
"""


@dataclass
class Mutation:
    """In `file`, the part of `place` between « and » becomes `new`."""

    file: str
    place: str
    new: str
    why: str  # what the part is for
    covered_by: str = ""  # why nobody can notice that it is gone, and why it stays


ANALYSIS, TWO, JOINT, ONLINE, BALL = (
    f"cpp/dynmargin/{name}.hpp"
    for name in (
        "proof/error_analysis",
        "proof/certificate",
        "joint/joint_certificate",
        "perceptron/online",
        "proof/ball",
    )
)
SECOND_ORDER = "the square of a rounding error; stays, it is a part of the bound"
SPARE = "the constant pays for the rounding of the error itself, with the factor 2 in two_u; it keeps bounds bit-equal"

OTHER_SCALE = (
    "for another machine: a scale v that differs by `moved` changes Y, at most ‖W‖‖u‖, by that part of it, and the "
    "error of the centre times the diameter is no less; stays, it is a part of the error of Y"
)

MUTATIONS = [
    # Bounds that claim nothing.
    Mutation(ANALYSIS, "return «std::isfinite(value) && std::isfinite(error) && error >= 0»;", "true", "fails closed"),
    Mutation(
        "cpp/dynmargin/data/default_arithmetic.hpp",
        "{\n    std::fegetenv(&before_);\n    «std::fesetenv(FE_DFL_ENV)»;",
        "0",
        "rounding to nearest, denormals",
    ),
    Mutation(
        ANALYSIS,
        "if («!(sums.finite && std::isfinite(norm2))») return",
        "false",
        "weights or scores that are not finite",
    ),
    Mutation(ANALYSIS, "if («!(norm2 > smallest_square)») return {", "false", "weights without a length"),
    Mutation(ANALYSIS, "if (!(«F > smallest_square» && F < largest", "true", "squares that vanish in the objective"),
    Mutation(
        ANALYSIS,
        "&& «F < largest_square»))  // a soft",
        "true",
        "squares that overflow in the objective",
        "a square that overflows makes its compensated sum no number, which the other side refuses, and where only "
        "their sum overflows, 1 / sqrt(inf) is the 0 that is claimed here; stays as a fence",
    ),
    # Scores.
    Mutation(ANALYSIS, "{ return («terms» + 4) * (two_u * size + underflow); }", "0", "one rounding per term"),
    Mutation(ANALYSIS, "{ return (terms + «4») * (two_u * size", "0", "roundings of the error", SPARE),
    Mutation(ANALYSIS, "* («two_u * size» + underflow); }", "0.0", "roundings of sums and products"),
    Mutation(ANALYSIS, "(two_u * size + «underflow»); }", "0.0", "products that vanish"),
    Mutation(TWO, "«size += std::abs(product)»;", "size += 0", "how much is added up in a score"),
    Mutation(TWO, "double score = b, size = «std::abs(b)»;", "0.0", "the intercept is a term too"),
    Mutation(TWO, "sum.size;\n    «terms += sum.terms»;", "terms += 0", "packed rows: one rounding per term"),
    Mutation(TWO, "«size += sum.size»;", "size += 0", "packed rows: how much is added up"),
    Mutation(
        ANALYSIS, "const double roundings = «static_cast<double>(terms + 4) * two_u»;", "0.0", "compensated scores"
    ),
    Mutation(
        TWO,
        "error = lost + «two_u * std::abs(value)»;",
        "0.0",
        "a compensated score is rounded",
        "by u of itself: a hard margin has 12 u of itself, of which it takes 4, counted scores 6 u, of which they take "
        "1, and the ball 4 two_u; soft margins use the slack; stays, bounds stay bit-equal",
    ),
    Mutation(TWO, "slack, «lost» + 2 * two_u", "0.0", "a compensated slack"),
    Mutation(
        TWO,
        "slack, lost + «2 * two_u * std::abs(slack)»};",
        "0.0",
        "a compensated slack is rounded",
        "sum_error has three two_u for every loss, of which its own roundings take two",
    ),
    # The margin of scores.
    Mutation(
        ANALYSIS,
        "relative = («sum_error(terms)» * norm2 + loss_error) / F",
        "0.0",
        "the length of the weights",
        "(b/rho)² and the two sums are rounded by 5 u, half of which reaches the root; that and the quotient are "
        "rounded by 1.5 u then: the 2 two_u are just enough up to a hundred million weights; stays, "
        "it is a part of the bound",
    ),
    Mutation(ANALYSIS, "score.slack + «score.slack_error» > 0)", "0.0", "rows that may have a slack"),
    Mutation(ANALYSIS, "slack, «error» + two_u * std::abs(slack)};", "0.0", "a slack is as wrong as its score"),
    Mutation(
        ANALYSIS,
        "error + «two_u * std::abs(slack)»};",
        "0.0",
        "1 - score is rounded: whoever confirms it by compensated slacks must not be less sure of them",
    ),
    Mutation(ANALYSIS, "hinge ? «penalty * score.slack_error» :", "0.0", "losses of the hinge"),
    Mutation(ANALYSIS, "penalty * («2 * kept» + score.slack_error)", "0.0", "a square, first order"),
    Mutation(ANALYSIS, "(2 * kept + «score.slack_error») * score", "0.0", "second order: slacks that seem to be 0"),
    Mutation(ANALYSIS, "«(smallest - low) / norm» +", "0.0", "hard margin: the score"),
    Mutation(ANALYSIS, "sums.low = std::min(sums.low, «score.low»);", "score.value", "the least any row may have"),
    Mutation(ANALYSIS, "(«sum_error(terms) + 3 * two_u») * std::abs(margin)", "0.0", "hard margin: roundings"),
    Mutation(ANALYSIS, "std::abs(margin) + «16 * underflow»;", "0.0", "hard margin: a quotient that vanishes"),
    Mutation(ANALYSIS, "loss, «sums.loss_error * 1.01» + sum", "0.0", "the losses"),
    Mutation(ANALYSIS, "* 1.01 + «sum_error(sums.n_losses) * loss»", "0.0", "roundings of the losses and of their sum"),
    Mutation(ANALYSIS, "* relative + «2 * two_u») * margin;", "0.0", "the root and the quotient"),
    # The length of a sum.
    Mutation(ANALYSIS, "return «3 * two_u» + (terms * two_u)", "0.0", "roundings of terms and of a compensated sum"),
    Mutation(
        ANALYSIS,
        "3 * two_u + «(terms * two_u) * (terms * two_u)»;",
        "0.0",
        "what compensation does not catch in a sum of positive terms",
        "below the other term up to a hundred million terms; stays, it is a part of the bound",
    ),
    Mutation(ANALYSIS, "upper(value, («relative» + 2 * two_u) * value", "0.0", "the relative error of the square"),
    Mutation(
        ANALYSIS,
        "upper(value, (relative + «2 * two_u») * value",
        "0.0",
        "the root and the quotient",
        "the error of the square counts in full, and half of it is enough",
    ),
    Mutation(ANALYSIS, "(«cancelled» + vanished) / t", "0.0", "what compensation does not catch"),
    Mutation(ANALYSIS, "(cancelled + «vanished») / t", "0.0", "squares that vanish"),
    Mutation(ANALYSIS, "add(product, «std::fma(a, b, -product)»);", "0.0", "products are exact"),
    Mutation(ANALYSIS, "add(product, «(higher - product) + lower»);", "0.0", "products are exact, float32"),
    Mutation(ANALYSIS, "low += «((high - (sum - part)) + (term - part))» + term_low;", "0.0", "sums are exact"),
    Mutation(ANALYSIS, "lost = «(additions_ + 4)» * two_u", "1.0", "the compensation is a sum that is rounded"),
    Mutation(ANALYSIS, "additions_ += «repeats ? static_cast<double>(terms) : 1»;", "1.0", "repeated columns"),
    Mutation(ANALYSIS, "«gross_ += std::abs(factor) * size»;", "gross_ += 0", "how much was added up"),
    # The quick bound.
    Mutation(TWO, "return «(roundings + 8)» * two_u * gross", "0.0", "one rounding per row of a part"),
    Mutation(TWO, "* two_u * «gross» * 1.01;", "0.0", "how much was added up"),
    Mutation(
        TWO,
        "if (!(«counted.bound.error <= std::max(negligible_error * (counted.bound.value - margin), tolerated)»))",
        "true",
        "it has to be negligible",
    ),
    # The ball.
    Mutation(BALL, "gap_error = «(objective(least) - P)» +", "0.0", "the objective may be larger"),
    Mutation(BALL, "+ «(D - objective(bound.value + bound.error))» +", "0.0", "the dual value may be smaller"),
    Mutation(BALL, "«1.01 * moved * moved * D» +", "0.0", "the scale of the dual point is rounded", SECOND_ORDER),
    Mutation(BALL, "* D + «4 * two_u * (P + D)»;", "0.0", "roundings of both objectives"),
    Mutation(BALL, "Y_error = «v * scale * weights.counted_error» +", "0.0", "the scores of counted rows"),
    Mutation(
        BALL,
        "+ «(stretched + moved) * std::abs(counted)» +",
        "0.0",
        "the scales",
        f"the scale of the weights is too large, if anything, and so is Y; {OTHER_SCALE}",
    ),
    Mutation(
        BALL,
        "(hinge ? «weights.loss_error / 2» : 0)",
        "0.0",
        "the losses of the hinge",
        "P has the same error, and counts it twice: the squared radius is half of P - D + Y, its error is not halved",
    ),
    Mutation(BALL, "(hard ? «moved * v * t» : 0)", "0.0", "hard margin: the scale of the dual point", OTHER_SCALE),
    Mutation(BALL, "«8 * two_u * (std::abs(counted) + std::abs(shift))»;", "0.0", "roundings of the sum"),
    Mutation(
        BALL,
        "scale = hard ? 1 / «weights.low» * (1",
        "weights.smallest",
        "no score may be below 1",
        "`stretched` is the distance between the two scales, and both Y and the centre allow for it",
    ),
    Mutation(BALL, "«v * (counts.cancelled + std::sqrt(smallest_square))» +", "0.0", "what rounding has added to a"),
    Mutation(
        BALL,
        "«(moved + 4 * two_u) / bound.value» +",
        "0.0",
        "the centre: the dual point",
        "for another machine: where a changes, u = t a / ‖a‖² changes by v times that at most, which is the term "
        "before, and roundings are less than 8 u (P + D) makes of the radius; stays, it is a part of the "
        "error of the centre",
    ),
    Mutation(
        BALL,
        "«(stretched + 4 * two_u) * length» +",
        "0.0",
        "the centre: the weights",
        "P has an error of twice `stretched` of itself, and the radius is at most sqrt(P): that adds more to it than "
        "half the length of the weights times `stretched`; stays, it is a part of the error of the centre",
    ),
    Mutation(BALL, "* length + «vanished») *", "0.0", "intercepts that vanish", "augmentations near 1e-300 only"),
    # Counts.
    Mutation(ANALYSIS, "require(«n >= 0» && n <=", "true", "counts are not negative"),
    Mutation(ANALYSIS, "&& «n <= (std::int64_t{1} << 53) - t_»,", "true", "the sum of counts is exact"),
    Mutation(TWO, "require(«i == 0 || k > rows[i - 1]»,", "true", "a row has one count, in its own coordinate"),
    Mutation(TWO, "require(«problem.has_row(k)»,", "k >= 0 && k < std::ssize(problem.sides)", "rows that are left out"),
    Mutation(TWO, "require(«!problem.free_bias || a.bias(0) == 0»,", "true", "the free intercept drops out"),
    Mutation(
        TWO, "|| («problem.rho == 0 && b != 0 && !problem.free_bias»)) return", "false", "an intercept has a length"
    ),
    # The hinge.
    Mutation(
        TWO,
        "largest_scale) * «inward»;",
        "1.0",
        "keeps the scale in the box",
        "the scale would leave the box by roundings only, and 16 two_u of the bound are added",
    ),
    Mutation(TWO, "std::min(t / norm / norm, «largest_scale»)", "t / norm / norm", "the box"),
    Mutation(
        TWO,
        "D > smallest_square && «D < largest_square» ?",
        "true",
        "a dual value that overflows",
        "costs are below 1e290 and the sum is not shorter than 1e-125; stays as a fence, 1 / sqrt(inf) would be 0",
    ),
    Mutation(
        TWO,
        "«D > smallest_square» && D <",
        "true",
        "a dual value that vanishes",
        "costs are above 1e-290 and longer sums than 1e154 overflow: D is not denormal; stays as a fence",
    ),
    Mutation(TWO, "longest = (norm_by_t.value + «norm_by_t.error») * t;", "0.0", "the sum may be longer"),
    Mutation(TWO, "upper(high, «(high - low)» +", "0.0", "the sum may be shorter"),
    Mutation(TWO, "(high - low) + «16 * two_u * high»)", "0.0", "roundings of the dual value, and of the scale inward"),
    # The joint margin.
    Mutation(JOINT, "«score_error(terms, sizes_[right])» +", "0.0", "the score of the right class"),
    Mutation(JOINT, "+ «score_error(terms, sizes_[c])» +", "0.0", "the score of the wrong class"),
    Mutation(
        JOINT,
        "+ «two_u * std::abs(difference)»;",
        "0.0",
        "their difference is rounded",
        "the two scores have at least 5 two_u of their sizes each; stays, bounds stay bit-equal",
    ),
    Mutation(JOINT, "std::max(«largest_error», error);", "0.0", "the worst of all differences"),
    Mutation(JOINT, "low = std::min(«low», difference", "infinity", "the least of all differences"),
    Mutation(
        JOINT,
        "error = «2 * score.error» + score.slack_error",
        "0.0",
        "counted: both scores, and the margin",
        "what is counted is the difference of two scores, and score_error has 2 u per rounding, of which each takes "
        "one: half of two errors is in slack_error; stays, it is a part of the error of Y",
    ),
    Mutation(
        JOINT,
        "require(«places[i] >= 0 && problem.has_row(k) && r != problem.class_of(k)»",
        "places[i] >= 0 && k < std::ssize(problem.sides) && problem.sides[k] != 0",
        "the own class is not wrong",
    ),
    Mutation(JOINT, "require(«i == 0 || places[i] > places[i - 1]»,", "true", "a count per row and class"),
    # Rows that pass by.
    Mutation(ONLINE, "cancelled = («sums_.additions» + 4) *", "0", "one rounding per update"),
    Mutation(ONLINE, "* two_u * «sums_.gross» * 1.01;", "0.0", "how much was added up"),
    Mutation(ONLINE, "«terms += static_cast<double>(stored)»;", "terms += 0", "a column that is stored more than once"),
    Mutation(
        ONLINE, "«size += std::abs(value)»; });\n      }\n    }\n    sums_.gross", "size += 0", "the same: its parts"
    ),
    Mutation(ONLINE, "(«sums_.additions» + 16) * two_u * of_extension", "0.0", "one rounding per square of it"),
]


def mutated(text, mutations):
    """Put every mutant of a file behind its switch."""
    places = []
    for number, mutation in mutations:
        before, rest = mutation.place.split("«")
        part, after = rest.split("»")
        whole = before + part + after
        if text.count(whole) != 1:
            raise SystemExit(f"{mutation.file}: {mutation.place!r} is there {text.count(whole)} times, not once")
        start = text.index(whole) + len(before)
        places.append((start, start + len(part), f"(mutant({number}) ? ({mutation.new}) : ({part}))"))
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text.replace("#pragma once\n", '#pragma once\n\n#include "mutant.hpp"\n', 1)


def build(folder):
    """Install a package with all mutants into `folder`/site."""
    copy = folder / "copy"
    copy.mkdir()
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("src", "cpp", "tools"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyi"))
    (copy / "cpp/mutant.hpp").write_text(SWITCH)
    for file in {mutation.file for mutation in MUTATIONS}:
        own = [(number, mutation) for number, mutation in enumerate(MUTATIONS, start=1) if mutation.file == file]
        (copy / file).write_text(mutated((copy / file).read_text(), own))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", folder / "site", copy], check=True)
    return folder / "site"


class FirstFailure:
    """Remembers the test that noticed."""

    name = ""

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.name:
            self.name = report.nodeid.split("::")[-1]


def noticed_by(number):
    """Return the test that notices a mutant; 0 is none. Runs in a process of its own, which reads the switch once."""
    os.environ["DYNMARGIN_MUTANT"] = str(number)
    first = FirstFailure()
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main(["-xq", "-p", "no:cacheprovider", *TESTS], plugins=[first])
    return first.name or (f"pytest's exit code {code}" if code else "")


def run(site, chosen):
    """Run the tests with each mutant in a fork of this process, so that what they import is loaded once."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
    sys.path.insert(0, str(site))  # before any other installation, editable ones included
    import dynmargin.classifiers.pdm

    if not dynmargin.__file__.startswith(str(site)):
        raise SystemExit(f"{dynmargin.__file__} is not the package with the mutants")
    os.chdir(ROOT)
    with get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        for number, test in zip([0, *chosen], pool.imap(noticed_by, [0, *chosen], chunksize=1), strict=True):
            if number == 0 and test:
                raise SystemExit(f"{test} fails without any mutation")
            if number:
                yield number, test


def main():
    chosen = [int(number) for number in sys.argv[1:]] or range(1, len(MUTATIONS) + 1)
    unexpected = 0
    with tempfile.TemporaryDirectory() as temporary:
        for number, test in run(build(Path(temporary)), chosen):
            mutation = MUTATIONS[number - 1]
            outcome = f"noticed by {test}" if test else f"COVERED: {mutation.covered_by}"
            if bool(test) == bool(mutation.covered_by):
                unexpected += 1
                outcome = f"UNEXPECTED: {outcome}"
            part = mutation.place.split("«")[1].split("»")[0]
            print(
                f"{number:3} {Path(mutation.file).stem}: {part}  ->  {mutation.new}  ({mutation.why}): {outcome}",
                flush=True,
            )
    print(f"{len(chosen)} mutants, {unexpected} not as expected")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
