"""Every reader refuses hostile input by a sentence; `make fuzz` looks for longer, with other seeds."""

import pytest

pytest.importorskip("resource")  # the search limits its memory; Windows has no such limits

from fuzz.run import guarded
from fuzz.targets import TARGETS

INPUTS = {"text": 1000, "model": 200, "liblinear": 1000, "folder": 300, "npz": 300, "arrays": 300}


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_and_inputs_like_it_break_no_promise(name, tmp_path, capfd):
    broken = guarded(name, seconds=600, seed=0, folder=tmp_path, most=INPUTS[name])
    assert not broken, capfd.readouterr().out
