"""``--json``: one object on standard output, with the keys that the docs promise."""

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs" / "commands.md"


def promised(command):
    """Return the keys that the table in the docs has for a command."""
    table = DOCS.read_text(encoding="utf-8").partition("## JSON")[2]
    row = re.search(rf"^\| `{command}` \| (.*) \|$", table, re.MULTILINE)[1]
    outer = re.sub(r"\([^)]*\)", "", row)
    return {"command", *re.findall(r"`(\w+)`", outer)}


@pytest.fixture
def shown(run):
    """Run a command with --json: its exit code and the object."""

    def shown(*words):
        code, out, _ = run(*words, "--json")
        return code, json.loads(out)

    return shown


def test_train(shown):
    code, found = shown("train", "train", "json.npz")
    assert code == 0
    assert promised("train") - {"class"} <= found.keys()
    assert (found["rows"], found["classes"], found["achieved"], found["search"]) == (1200, [-1, 1], True, None)
    assert 0 <= found["gap"] <= found["epsilon"] == 0.01
    assert found["certificates"][0]["margin"] == found["margin"]
    assert found["model"] == "json.npz"
    code, found = shown("train", "train", "json.npz", "--max-time", "1e-9", "--algorithm", "pdm", "-q")
    assert (code, found["achieved"], found["stop_reason"]) == (1, False, "max_time")
    assert "--max-time is reached" in found["shortfall"]


def test_cross_validation(shown):
    code, found = shown("train", "-v", "3", "train", "-q")
    assert code == 0
    assert found.keys() == promised("train -v")
    assert found["accuracy"] == found["right"] / 1200


def test_predict(shown, run, folder):
    code, found = shown("predict", "test", "model.npz", "--settled")
    assert code == 0
    assert found.keys() == promised("predict")
    assert (found["rows"], found["labels"], found["out"]) == (597, None, None)
    text = run("predict", "test", "model.npz")[1]
    assert f"({found['right']}/597)" in text
    (folder / "bare.csv").write_text("\n".join([",".join(["0.5"] * 64)] * 2) + "\n")
    _, found = shown("predict", "bare.csv", "model.npz")
    assert (found["accuracy"], len(found["labels"])) == (None, 2)
    assert "would both go to standard output" in run("predict", "test", "model.npz", "-", "--json")[2]


def test_verify(shown):
    code, found = shown("verify", "model.npz", "train")
    assert code == 0
    assert found.keys() == promised("verify")
    assert (found["verdict"], found["proven"], found["classes"]) == ("proven", True, [-1, 1])
    for code, verdict, words in (
        (2, "other data", ("test",)),
        (2, "other problem", ("train", "-c", "7")),
        (2, "other problem", ("train", "--scale", "maxabs")),
    ):
        found = shown("verify", "model.npz", *words)
        assert found[0] == code
        assert (found[1]["verdict"], found[1]["proven"], found[1]["margin"]) == (verdict, False, None)
        assert found[1].keys() == promised("verify")


def test_info(shown):
    code, found = shown("info", "model.npz")
    assert code == 0
    assert found.keys() == promised("info")
    assert (found["features"], found["first_index"], found["scale"]) == (64, 1, "none")
    assert found["certificates"][0]["epsilon"] == 0.01


def test_compare(shown):
    code, found = shown("compare", "train", "--algorithms", "pdm,newton")
    assert code == 0
    assert found.keys() == promised("compare")
    assert [one["algorithm"] for one in found["algorithms"]] == ["pdm", "newton"]
    assert {"gap", "margin", "upper_bound", "achieved", "stop_reason"} <= found["algorithms"][0].keys()


def test_an_error_prints_no_object(run):
    assert run("train", "nowhere", "--json")[:2] == (3, "")
