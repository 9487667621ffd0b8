"""``python -m tests.mutate_proofs``: drop each term of the proofs and see whether a test notices.

All mutants are compiled at once, each behind a switch that an environment variable sets, in a copy of the sources: one
build, then one run of `test_proof_terms` and `test_oracle` for each. Needs what an editable install needs
(scikit-build-core, nanobind) and fork, and some ten minutes. Exit code 1 if a mutant survives that is not known to be
covered, or the other way round.
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
TESTS = ["tests/test_proof_terms.py", "tests/test_oracle.py"]
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


ANALYSIS, TWO, JOINT, ONLINE = (
    f"cpp/dynmargin/{name}.hpp"
    for name in ("proof/error_analysis", "proof/certificate", "joint/joint_certificate", "perceptron/online")
)
SPARE = "the constant pays for the rounding of the error itself, with the factor 2 in two_u; it keeps bounds bit-equal"

MUTATIONS = [
    # Bounds that claim nothing.
    Mutation(ANALYSIS, "return «std::isfinite(value) && std::isfinite(error) && error >= 0»;", "true", "fails closed"),
    Mutation(
        ANALYSIS,
        "{\n    std::fegetenv(&before_);\n    «std::fesetenv(FE_DFL_ENV)»;",
        "0",
        "rounding to nearest, denormals",
    ),
    Mutation(
        ANALYSIS,
        "if («!finite») return",
        "false",
        "weights or scores that are not finite",
    ),
    Mutation(ANALYSIS, "if («!(norm2 > smallest_square)») return Bound::no", "false", "weights without a length"),
    Mutation(ANALYSIS, "if (!(«F > smallest_square» && F < largest", "true", "squares that vanish in the objective"),
    Mutation(
        ANALYSIS,
        "&& «F < largest_square»)) return",
        "true",
        "squares that overflow in the objective",
    ),
    # Scores.
    Mutation(ANALYSIS, "{ return («terms» + 4) * (two_u * size + underflow); }", "0", "one rounding per term"),
    Mutation(ANALYSIS, "{ return (terms + «4») * (two_u * size", "0", "roundings of the error", SPARE),
    Mutation(ANALYSIS, "* («two_u * size» + underflow); }", "0.0", "roundings of sums and products"),
    Mutation(ANALYSIS, "(two_u * size + «underflow»); }", "0.0", "products that vanish"),
    Mutation(TWO, "«size += std::abs(product)»;", "size += 0", "how much is added up in a score"),
    Mutation(TWO, "double score = b, size = «std::abs(b)»;", "0.0", "the intercept is a term too"),
    # The margin of scores.
    Mutation(ANALYSIS, "= («terms» + 8) * two_u * norm2;", "0", "one rounding per square of the weights"),
    Mutation(ANALYSIS, "= (terms + «8») * two_u * norm2;", "0", "roundings of the error", SPARE),
    Mutation(ANALYSIS, "slack + «score.error» > 0)", "0.0", "rows that may have a slack"),
    Mutation(ANALYSIS, "slack_error = «score.error» + two_u", "0.0", "a slack is as wrong as its score"),
    Mutation(
        ANALYSIS,
        "score.error + «two_u * (1 + std::abs(score.value))»;",
        "0.0",
        "1 - score is rounded",
        "the rounding is relative to the slack, and 16 two_u of every loss are added; stays, bounds stay bit-equal",
    ),
    Mutation(ANALYSIS, "hinge ? «penalty * slack_error» :", "0.0", "losses of the hinge"),
    Mutation(ANALYSIS, "penalty * («2 * kept» + slack_error)", "0.0", "a square, first order"),
    Mutation(ANALYSIS, "(2 * kept + «slack_error») * slack", "0.0", "a square, second order: slacks that seem to be 0"),
    Mutation(ANALYSIS, "«(smallest - smallest_low) / norm» +", "0.0", "hard margin: the score"),
    Mutation(
        ANALYSIS, "smallest_low = std::min(smallest_low, «score.low»);", "score.value", "the least any row may have"
    ),
    Mutation(ANALYSIS, "(«terms» + 16) * (two_u * std::abs(margin)", "0", "hard margin: the length of the weights"),
    Mutation(ANALYSIS, "(terms + 16) * («two_u * std::abs(margin)»", "0.0", "hard margin: the length of the weights"),
    Mutation(ANALYSIS, "std::abs(margin) + «underflow»)", "0.0", "hard margin: a quotient that vanishes"),
    Mutation(ANALYSIS, "relative = («norm2_error» +", "0.0", "the length of the weights"),
    Mutation(ANALYSIS, "norm2_error + «loss_error» * 1.01", "0.0", "the losses"),
    Mutation(ANALYSIS, "loss_error * «1.01» +", "1.0", "roundings of the error", SPARE),
    Mutation(ANALYSIS, "(«problem.n_members()» + 16) * two_u * loss", "0", "one rounding per loss that is added"),
    Mutation(
        ANALYSIS,
        "* two_u * loss) / F + «8 * two_u»;",
        "0.0",
        "the root and the quotient",
        "norm2_error and the loss's own share are at least 8 two_u F already; stays, bounds stay bit-equal",
    ),
    # The length of a sum.
    Mutation(ANALYSIS, "relative = («terms» + 16) * two_u +", "0", "one rounding per square of the sum"),
    Mutation(ANALYSIS, "(«extended_terms» + 16) * two_u", "0", "one rounding per square of the extension"),
    Mutation(ANALYSIS, "* two_u * («norm2 > 0 ? extended / norm2 : 0»);", "0.0", "the extension's share of the length"),
    Mutation(ANALYSIS, "(«cancelled» + vanished) / t", "0.0", "what compensation does not catch"),
    Mutation(ANALYSIS, "(cancelled + «vanished») / t", "0.0", "squares that vanish"),
    Mutation(ANALYSIS, "add_exact(j, product, «std::fma(factor, value, -product)»);", "0.0", "products are exact"),
    Mutation(ANALYSIS, "add_exact(j, product, «(high - product) + low»);", "0.0", "products are exact, float32"),
    Mutation(ANALYSIS, "«((s.high - (sum - part)) + (product - part))» + product_error;", "0.0", "sums are exact"),
    Mutation(ANALYSIS, "cancelled = «(terms_ + 4)» * (terms_", "1.0", "the compensation is a sum that is rounded"),
    Mutation(ANALYSIS, "«gross_ += std::abs(factor) * size»;", "gross_ += 0", "how much was added up"),
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
        "the scale would leave the box by roundings only, and 2^-39 of the bound are added; bounds stay bit-equal",
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
    Mutation(TWO, "bound((norm_by_t.value + «norm_by_t.error») * t, std", "0.0", "the sum may be longer"),
    Mutation(TWO, "upper(high, «(high - low)» +", "0.0", "the sum may be shorter"),
    Mutation(TWO, "(«0x1p-39» + 64 * two_u) * high", "0.0", "what rounding inward costs"),
    Mutation(
        TWO,
        "(0x1p-39 + «64 * two_u») * high",
        "0.0",
        "roundings of the dual value",
        "2^-39 is more; stays, bounds stay bit-equal",
    ),
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
    Mutation(JOINT, "std::max(«found.error», error);", "0.0", "the worst of all differences"),
    Mutation(JOINT, "found.low = std::min(«found.low», difference", "infinity", "the least of all differences"),
    Mutation(
        JOINT, "margin_of_scores(\n      matrix, problem, norm2, «static_cast<double>(n + b.size())»", "0.0", "squares"
    ),
    Mutation(
        JOINT,
        "require(«places[i] >= 0 && problem.has_row(k) && r != problem.class_of(k)»",
        "places[i] >= 0 && k < std::ssize(problem.sides) && problem.sides[k] != 0",
        "the own class is not wrong",
    ),
    Mutation(JOINT, "require(«i == 0 || places[i] > places[i - 1]»,", "true", "a count per row and class"),
    Mutation(
        JOINT,
        "A.bound(problem.rho, places.size(), «problem.costs.size()»);",
        "0",
        "one more rounding per class",
    ),
    # Rows that pass by.
    Mutation(ONLINE, "cancelled = («sums_.additions» + 4) *", "0", "one rounding per update"),
    Mutation(ONLINE, "* two_u * «sums_.gross» * 1.01;", "0.0", "how much was added up"),
    Mutation(ONLINE, "«terms += static_cast<double>(stored)»;", "terms += 0", "a column that is stored more than once"),
    Mutation(
        ONLINE, "«size += std::abs(value)»; });\n      }\n    }\n    sums_.gross", "size += 0", "the same: its parts"
    ),
    Mutation(ONLINE, "sums_.extended, «sums_.additions», cancelled", "0.0", "one rounding per square of the extension"),
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
    for name in ("src", "cpp"):
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
