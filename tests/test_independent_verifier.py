"""The second verifier confirms what the package proves, of every kind, and refuses what is a little too strong."""

import hashlib
import io
import json
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dynmargin import DCDClassifier, DecompositionSVMClassifier, NewtonClassifier, PDMClassifier
from dynmargin.cli.main import main

VERIFIER = Path(__file__).parent.parent / "tools" / "independent_verifier.py"
DATA = Path(__file__).parent / "data"


def verify(*arguments):
    """Run it as a stranger would: nothing but the standard library, not even site-packages."""
    command = [sys.executable, "-I", "-S", str(VERIFIER), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def write_text(path, X, y):
    lines = (
        f"{label} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row))
        for row, label in zip(X.tolist(), y, strict=True)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def entries_of(path):
    with np.load(path) as archive:
        return dict(archive)


def write_format_3(path, entries):
    """As format 1, with a manifest of the digests of all entries, and a section that nobody has to know."""
    raw = {}
    for name, array in entries.items():
        if name == "manifest":  # that of the model before it was changed
            continue
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        raw[name] = file.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in raw.items():
            archive.writestr(f"{name}.npy", content)
        file = io.BytesIO()
        manifest = json.dumps({name: hashlib.sha256(content).hexdigest() for name, content in raw.items()})
        np.lib.format.write_array(file, np.array(manifest))
        archive.writestr("manifest.npy", file.getvalue())
        archive.writestr("section/scaling.npy", b"not read")


KINDS = {
    "squared hinge": (PDMClassifier(random_state=0), 2),
    "without an intercept": (PDMClassifier(fit_intercept=False, random_state=0), 2),
    "class weights": (PDMClassifier(class_weight={0: 2.5, 1: 0.3}, intercept_scaling=0.3, random_state=0), 2),
    "hinge, scale in the box": (DCDClassifier(loss="hinge", C=100.0, random_state=0), 2),
    "hinge, scale at its border": (DCDClassifier(loss="hinge", C=0.01, random_state=0), 2),
    "hard margin": (PDMClassifier(C=np.inf, random_state=0), 2),
    "free intercept": (DecompositionSVMClassifier(random_state=0), 2),
    "counts of Newton": (NewtonClassifier(random_state=0), 2),
    "one against the rest": (PDMClassifier(random_state=0), 3),
    "joint": (PDMClassifier(multi_class="joint", class_weight={0: 2.0}, random_state=0), 3),
    "joint hard": (PDMClassifier(multi_class="joint", C=np.inf, random_state=0), 3),
}


@pytest.fixture(scope="module", params=KINDS)
def trained(request, tmp_path_factory):
    """A model file with its data, and the weights of the rows where there are any."""
    classifier, K = KINDS[request.param]
    folder, random = tmp_path_factory.mktemp("model"), np.random.default_rng(0)
    y = np.arange(24) % K
    X = random.normal(size=(24, 3)) * 0.3 + 3 * np.eye(3)[y]
    weighted = request.param in ("squared hinge", "hinge, scale at its border", "joint")
    weight = random.exponential(size=24) * (np.arange(24) != 5) if weighted else None
    classifier.fit(X, y, sample_weight=weight)
    classifier.save(folder / "model.npz")
    arguments = [write_text(folder / "data", X, y)]
    if weighted:
        (folder / "weights").write_text("".join(f"{w!r}\n" for w in weight.tolist()))
        arguments += ["--weights", folder / "weights"]
    return folder / "model.npz", arguments


def test_every_kind_is_confirmed_and_a_billionth_more_is_refused(trained, tmp_path):
    model, arguments = trained
    found = verify(model, *arguments)
    assert (found.returncode, found.stderr) == (0, "")
    entries = entries_of(model)
    assert found.stdout.count(": proven\n") == 2 * len(entries["margin"])
    for name, factor in (("margin", 1 + 1e-9), ("upper_bound", 1 - 1e-9)):
        for i in range(len(entries[name])):
            # Published bounds are a few roundings from what the witnesses prove; a billionth is beyond that.
            forged = np.where(np.arange(len(entries[name])) == i, entries[name] * factor, entries[name])
            write_format_3(tmp_path / "forged.npz", entries | {name: forged})
            found = verify(tmp_path / "forged.npz", *arguments)
            assert found.returncode == 1
            assert found.stdout.count("NOT PROVEN") == 1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("count_values", lambda n: -n),
        ("count_values", lambda n: n * 0),
        ("count_rows", lambda rows: rows + 1000),
        ("coef", lambda w: w * 1.001),
        ("intercept", lambda b: b + 0.01),
        ("rho", lambda rho: rho * 0),
        ("margin", lambda m: m * np.nan),
        ("margin", lambda m: m * np.inf),
        ("upper_bound", lambda m: -m),
        ("C_positive", lambda c: c * 1.001),
        ("C_positive", lambda c: c * 0.999),
    ],
)
def test_forged_witnesses_and_problems_are_not_proven(tmp_path, name, change):
    entries = entries_of(DATA / "format-1.npz")
    np.savez(tmp_path / "forged.npz", **entries | {name: change(entries[name])})
    found = verify(tmp_path / "forged.npz", DATA / "format-1.libsvm")
    assert found.returncode == 1
    assert "NOT PROVEN" in found.stdout


@pytest.mark.parametrize("stored", ["format-1.npz", "format-2.npz"])
def test_all_formats_are_read(stored, tmp_path):
    assert verify(DATA / stored, DATA / "format-1.libsvm").returncode == 0
    entries = entries_of(DATA / stored) | {"version": 3, "joint": stored == "format-2.npz"}
    write_format_3(tmp_path / "three.npz", entries)
    assert verify(tmp_path / "three.npz", DATA / "format-1.libsvm").returncode == 0
    content = (tmp_path / "three.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "three.npz") as archive, zipfile.ZipFile(tmp_path / "other.npz", "w") as other:
        for name in archive.namelist():
            changed = archive.read(name)
            other.writestr(name, changed[:-1] + bytes([changed[-1] ^ 1]) if name == "coef.npy" else changed)
    found = verify(tmp_path / "other.npz", DATA / "format-1.libsvm")
    assert (found.returncode, found.stderr) == (3, "coef is not as in the manifest\n")
    (tmp_path / "cut.npz").write_bytes(content[:-100])
    assert verify(tmp_path / "cut.npz", DATA / "format-1.libsvm").returncode == 3
    assert verify(tmp_path / "missing.npz", DATA / "format-1.libsvm").returncode == 3


def test_illegal_problems_and_missing_certificates_are_not_readable(tmp_path):
    entries = entries_of(DATA / "format-1.npz")
    for changes in (
        {"C_positive": -entries["C_positive"]},
        {"C_positive": entries["C_positive"] * np.nan},
        {"C_positive": entries["C_positive"] * np.inf},  # for some rows only
        {"coef": entries["coef"] * np.nan},
        {"classes": np.array([1.0, 2.0, 3.0, 4.0])},
        {"margin": entries["margin"][:1], "upper_bound": entries["upper_bound"][:1]},
        {"margin": entries["margin"][:0], "upper_bound": entries["upper_bound"][:0]},
        {"version": 4},
    ):
        np.savez(tmp_path / "forged.npz", **entries | changes)
        assert verify(tmp_path / "forged.npz", DATA / "format-1.libsvm").returncode == 3


def test_other_data_are_recognised_by_their_shape_and_labels(tmp_path):
    lines = (DATA / "format-1.libsvm").read_text().splitlines()
    for changed in (lines[:-1], [*lines[:-1], lines[-1] + " 99:1"], [*lines[:-1], "7 1:1"]):
        (tmp_path / "data").write_text("\n".join(changed) + "\n")
        found = verify(DATA / "format-1.npz", tmp_path / "data")
        assert found.returncode == 2
        assert found.stderr.startswith("other data: ")
    (tmp_path / "weights").write_text("1\n2\n")
    arguments = [DATA / "format-1.npz", DATA / "format-1.libsvm", "--weights", tmp_path / "weights"]
    assert verify(*arguments).returncode == 2


@pytest.mark.parametrize("names", [True, False])
def test_a_table_and_compressed_text_are_read(names, tmp_path):
    random = np.random.default_rng(0)
    y = np.array(["no", "yes"] * 10)
    X = random.normal(size=(20, 2)) + 2 * (y == "yes")[:, None]
    PDMClassifier(random_state=0).fit(X, y).save(tmp_path / "model.npz")
    lines = [f"{row[0]!r},{label},{row[1]!r}" for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    if names:
        lines.insert(0, "first,outcome,second")
    else:  # without names the labels have to be numbers
        lines = [line.replace("yes", "1").replace("no", "0") for line in lines]
        PDMClassifier(random_state=0).fit(X, y == "yes").save(tmp_path / "model.npz")
    (tmp_path / "data.csv.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    found = verify(tmp_path / "model.npz", tmp_path / "data.csv.xz", "--label", "outcome" if names else "2")
    assert (found.returncode, found.stderr) == (0, "")


def test_columns_are_left_out_or_in_another_order_and_files_follow_a_pattern(tmp_path):
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 2))
    rows = [f"{k},{a!r},{b!r},{'yes' if a > b else 'no'}" for k, (a, b) in enumerate(X.tolist())]
    (tmp_path / "all.csv").write_text("\n".join(['"id, of all",a,b,y', *rows]))
    other = [",".join(line.split(",")[place] for place in (2, 3, 1)) for line in rows]
    for i in range(2):
        (tmp_path / f"part-{i}.csv").write_text("\n".join(["b,y,a", *other[20 * i : 20 * i + 20]]))
    model, drop = str(tmp_path / "m.npz"), '"id, of all"'
    assert main(["train", "-q", str(tmp_path / "all.csv"), model, "--label", "y", "--drop", drop]) == 0
    assert verify(model, tmp_path / "all.csv").returncode == 0  # as the model says
    assert verify(model, tmp_path / "all.csv", "--drop", drop, "--label", "-1").returncode == 0
    wrong = verify(model, tmp_path / "all.csv", "--drop", "a")
    assert (wrong.returncode, "there are other columns than ['a', 'b']" in wrong.stderr) == (2, True)
    assert verify(model, tmp_path / "part-*.csv").returncode == 0  # without the column that is left out
    assert verify(model, tmp_path / "part-0.csv").returncode == 2
    assert verify(model, tmp_path / "none-*.csv").returncode == 3
    (tmp_path / "less.csv").write_text("\n".join(["b,y", *(line.rpartition(",")[0] for line in other)]))
    (tmp_path / "empty.svm").write_text("")
    assert verify(model, tmp_path / "less.csv").returncode == 2
    assert verify(model, tmp_path / "empty.svm").returncode == 2


@pytest.mark.parametrize("sparse", [True, False])
def test_a_model_of_scaled_rows_is_about_scaled_rows(sparse, tmp_path):
    random = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = (random.normal(size=(24, 3)) + 2 * y[:, None]) * [1.0, 1000.0, 1e-3]
    if sparse:
        data = write_text(tmp_path / "data", X, y)
        arguments = []
    else:
        data, arguments = tmp_path / "data.csv", ["--label", "y"]
        lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
        data.write_text("\n".join(["a,b,c,y", *lines]))
    assert main(["train", "-q", str(data), str(tmp_path / "m.npz"), "--scale", "standard", *arguments]) == 0
    found = verify(tmp_path / "m.npz", data, *arguments)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("about scaled rows (standard)")
    entries = entries_of(tmp_path / "m.npz")
    raw = {name: entry for name, entry in entries.items() if not name.startswith("scaling/")}
    write_format_3(tmp_path / "raw.npz", raw)  # needs what is not there
    assert verify(tmp_path / "raw.npz", data, *arguments).returncode == 3
    write_format_3(tmp_path / "raw.npz", {**raw, "needs": np.array([], np.str_)})
    assert verify(tmp_path / "raw.npz", data, *arguments).returncode == 1
    write_format_3(tmp_path / "other.npz", {**entries, "needs": np.array(["scaling", "more"])})
    assert verify(tmp_path / "other.npz", data, *arguments).returncode == 3
    for divisor in (-1.0, 0.0, np.nan):
        write_format_3(tmp_path / "other.npz", {**entries, "scaling/divisor": np.full(3, divisor)})
        assert verify(tmp_path / "other.npz", data, *arguments).returncode == 3


def test_it_is_short_and_needs_the_standard_library_alone():
    lines = VERIFIER.read_text().splitlines()
    assert len(lines) < 220
    imported = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names
