"""Every reader refuses hostile input by a sentence; `make fuzz` looks for longer, with other seeds."""

import pytest

pytest.importorskip("resource")  # the search limits its memory; Windows has no such limits

from fuzz.run import guarded
from fuzz.targets import TARGETS

INPUTS = {"text": 3000, "model": 400, "liblinear": 3000, "folder": 800, "npz": 800, "arrays": 400}


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_and_inputs_like_it_break_no_promise(name, tmp_path, capfd):
    broken = guarded(name, seconds=600, seed=0, folder=tmp_path, most=INPUTS[name])
    assert not broken, capfd.readouterr().out
