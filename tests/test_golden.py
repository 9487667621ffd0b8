"""Results are bit for bit what they were: weights, counts, bounds and every check on the way.

Whoever tidies up must leave ``data/golden.json`` as it is. A change of it is legitimate in a commit that changes on
purpose what an algorithm does: another order of visits, another moment to check, another rounding, a defect fixed. That
commit lists the runs that change and says why; a run that nobody expected to change is a defect until it is understood.
Another compiler, platform, number of threads or length of slices is no reason.

``pytest tests/test_golden.py --overwrite`` writes the results of the present code; ``git diff`` shows what has changed.
"""

import golden
import pytest

RUNS = dict(golden.runs())


@pytest.fixture(scope="module")
def kept(request):
    """The results that are kept, to be compared with or, if asked for, to be overwritten."""
    results = golden.read() if golden.FILE.exists() else {}
    yield results
    if request.config.getoption("--overwrite"):
        golden.write({name: result for name, result in results.items() if name in RUNS})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_what_it_gave(name, kept, request):
    found = golden.record(RUNS[name]())
    if request.config.getoption("--overwrite"):
        kept[name] = found
    assert found == kept[name]


def test_what_is_kept_is_what_is_run(kept):
    assert set(kept) == set(RUNS)
