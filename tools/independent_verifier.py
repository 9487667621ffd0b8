"""Check the certificates of a dynmargin model without dynmargin, without NumPy and without any rounding.

    python tools/independent_verifier.py MODEL.npz DATA [--weights FILE] [--label COLUMN] [--drop COLUMNS]
DATA is LIBSVM text or a CSV of numbers, perhaps compressed; files, as in 'part-*.svm'. A row of two classes has the
pattern z = l (x, rho), where l is +1 or -1; weights (w, b/rho) give it the score l (w.x + b). A joint margin has K
blocks of weights, a pattern per row and wrong class: (x, rho) in the row's own block, -(x, rho) in the wrong one. C is
the cost of a row's slack times its weight. The model chooses the problem, which is printed, and makes two claims:
  margin m       The weights have it: m² F <= 1, where F = |w|² + |b/rho|² + sum over rows of 2 C max(0, 1 - score)² and
                 `score` is the least of the row's patterns; the hinge's slack is not squared. If C is infinite, there
                 are no slacks, and m |(w, b/rho)| <= score for every row.
  upper bound U  Nobody has more, as counts n >= 0 of patterns prove: N <= U² t², where t = sum n and N = |sum n z|² +
                 sum over rows of n²/(2 C). For the hinge N has no last part: any s with s n <= C for all rows proves
                 that no objective is below D = s t - s² N / 2, and U is true if 2 D U² >= 1.
If the intercept is free, rho is 0 and counts must have the same sum on both sides. Doubles are whole numbers divided by
powers of two, so everything here is exact. Exit code: 0 proven, 1 not proven, 2 other data, 3 not readable.
"""

import argparse
import ast
import bz2
import csv
import glob
import gzip
import hashlib
import json
import lzma
import struct
import sys
import zipfile
from fractions import Fraction
from math import ceil, inf, isfinite, prod
from pathlib import Path


def require(holds, sentence, code=3):
    """Exit with a sentence where something does not hold."""
    if not holds:
        print(sentence, file=sys.stderr)
        raise SystemExit(code)


def read_model(path):
    """Return the entries of a model file: arrays in a zip archive, here as lists."""
    with zipfile.ZipFile(path) as archive:
        known = [entry for entry in archive.infolist() if "/" not in entry.filename.removeprefix("scaling/")]
        raw = {entry.filename.removesuffix(".npy"): archive.read(entry) for entry in known}
    require(len(raw) == len(known), "an entry is there twice")
    model = {name: read_array(content) for name, content in raw.items()}
    require(model["format"] == "dynmargin model" and model["version"] in (1, 2, 3), "not a model of format 1, 2 or 3")
    if model["version"] == 3:
        manifest = json.loads(model["manifest"])
        for name in raw.keys() - {"manifest"}:
            require(manifest[name] == hashlib.sha256(raw[name]).hexdigest(), f"{name} is not as in the manifest")
        needs = set(model.get("needs", []))
        require(needs <= ({"scaling"} if "scaling/shift" in model else set()), f"it needs {needs}, not all of it known")
    return {"joint": model["version"] == 2, **model}


def read_array(content):
    """Return what an .npy file holds: a header that describes it, then the values."""
    end = 10 + int.from_bytes(content[8:10], "little")
    header = ast.literal_eval(content[10:end].decode())
    plain = content[:8] == b"\x93NUMPY\x01\x00" and header["descr"][0] in "<|" and not header["fortran_order"]
    require(plain, "an entry is not an array of the kind that is written")
    shape, kind, size = header["shape"], header["descr"][1], int(header["descr"][2:])
    if kind == "U":
        text = content[end:].decode("utf-32-le")
        values = [text[i * size : (i + 1) * size].rstrip("\0") for i in range(prod(shape))]
    else:
        code = {"f": " efd", "i": "bhiq", "u": "BHIQ", "b": "?"}[kind][(1, 2, 4, 8).index(size)]
        values = list(struct.unpack(f"<{prod(shape)}{code}", content[end:]))
    if len(shape) == 2:
        values = [values[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]
    return values if shape else values[0]


def lines_of(path):
    """Return the lines of a text file, which may be compressed, without those that are blank."""
    content = Path(path).read_bytes()
    module = {b"\x1f\x8b": gzip, b"BZ": bz2, b"\xfd7": lzma}.get(content[:2])
    text = (module.decompress(content) if module else content).decode("utf-8-sig")
    return [line for line in text.splitlines() if line.strip()]


def read_data(pattern, label, drop, model):
    """Return the rows as lists of (column, value), and their labels; the files of a pattern in the order of names."""
    paths = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern)) or [pattern]
    found = [row for path in paths for row in read_rows(path, label, drop, model)]
    labels, rows, m, d = [one for one, _ in found], [row for _, row in found], model["n_rows"], len(model["coef"][0])
    first = model.get("first_index", min((j for row in rows for j, _ in row), default=1) > 0)
    require(len(rows) == m and all(0 <= j - first < d for row in rows for j, _ in row), f"other data: not {m} x {d}", 2)
    rows = [[(j - first, value) for j, value in row] for row in rows]
    return scaled(rows, model["scaling/shift"], model["scaling/divisor"]) if "scaling/shift" in model else rows, labels


def read_rows(path, label, drop, model):
    """Yield the label and the entries of each row; columns have names, or else numbers: 1 is the first, -1 the last."""
    if ".csv" not in Path(path).name:
        for fields in filter(None, (line.split("#")[0].split() for line in lines_of(path))):
            yield fields[0], [(int(j), float(x)) for j, x in (e.split(":") for e in fields[1:] if e[:4] != "qid:")]
        return
    table, stored, known = list(csv.reader(lines_of(path))), json.loads(model["parameters"]), model.get("feature_names")
    names = [] if set("".join(table[0])) <= set("0123456789+-.eE ") else table.pop(0)
    gone = [one for one in stored.get("drop", []) if one in names or not names] + next(csv.reader([drop or ""]), [])
    every, first = range(len(names or table[0])), model.get("first_index", 0)
    out = [names.index(n) if n in names else every[int(n) - (int(n) > 0)] for n in [label or stored["label"], *gone]]
    used = [names.index(n) for n in known if n in names] if names and known else [j for j in every if j not in out]
    fits = sorted([*used, *set(out)]) == list(every) and len(used) == len(known or used)
    require(fits, f"other data: there are other columns than {known}", 2)
    yield from ((row[out[0]], [(j, float(row[place])) for j, place in enumerate(used, first)]) for row in table)


def scaled(rows, shift, divisor):
    """Return the rows that a model with a scaling is about: (x - shift) / divisor for each feature, in doubles."""
    require(all(map(isfinite, shift)) and all(0 < s < inf for s in divisor), "the scaling is not made of sound numbers")
    require(all(len(dict(row)) == len(row) for row in rows), "a row has a column twice")
    zeros = dict.fromkeys(range(len(shift)), 0.0) if any(shift) else {}  # which stay zeros if nothing is subtracted
    return [[(j, (x - shift[j]) / divisor[j]) for j, x in {**zeros, **dict(row)}.items()] for row in rows]


def whole(values):
    """Return the whole numbers v 2^p for some values v, and p."""
    ratios = [float(value).as_integer_ratio() for value in values]
    p = max((below.bit_length() - 1 for _, below in ratios), default=0)
    return [above << (p + 1 - below.bit_length()) for above, below in ratios], p


def margin_is_true(m, W, b, rho, hinge, free, rows, p, patterns, costs):
    """Say whether the weights have margin m; W has a list per block, and rows are whole numbers divided by 2^p."""
    if not isfinite(m) or (any(b) and not rho and not free):
        return False
    blocks, d, m = range(len(W)), len(W[0]), Fraction(m)
    numbers, q = whole([c for w in W for c in w] + b)
    norm2 = Fraction(sum(c * c for c in numbers[: -len(b)]), 4**q)
    norm2 += sum((Fraction(c) / rho) ** 2 for c in b) if rho else 0
    F, least, one = norm2, inf, 1 << (p + q)  # as scores are whole numbers here, 1 is one
    for k, signs_of in patterns.items():
        scores = [sum(numbers[c * d + j] * x for j, x in rows[k]) + (numbers[c - len(b)] << p) for c in blocks]
        score = Fraction(min(sum(sign * scores[c] for c, sign in signs.items()) for signs in signs_of.values()), one)
        least = min(least, score)
        if score < 1 and costs[k] < inf:
            F += 2 * costs[k] * (1 - score) ** (1 if hinge else 2)
    if inf in costs.values():
        return norm2 > 0 and m * abs(m) * norm2 <= least * abs(least)
    return m <= 0 or m * m * F <= 1


def bound_is_true(bound, counts, n_blocks, rho, hinge, free, rows, p, patterns, costs):
    """Say whether counts, as (place of the pattern, count), prove that no margin is above the bound."""
    where = {place: (k, signs) for k, signs_of in patterns.items() for place, signs in signs_of.items()}
    if not isfinite(bound) or bound < 0 or not all(place in where and n >= 0 for place, n in counts):
        return False
    a, bias, of_row, bound = [{} for _ in range(n_blocks)], [0] * n_blocks, {}, Fraction(bound)
    for place, n in dict(counts).items():
        k, signs = where[place]
        of_row[k] = of_row.get(k, 0) + n
        for c, sign in signs.items():
            bias[c] += sign * n
            for j, x in rows[k]:
                a[c][j] = a[c].get(j, 0) + sign * n * x
    if not any(of_row.values()) or (free and any(bias)):
        return False
    t = sum(of_row.values())
    N = Fraction(sum(x * x for block in a for x in block.values()), 4**p) + sum(n * n for n in bias) * rho**2
    if hinge:
        s = min([costs[k] / n for k, n in of_row.items() if n] + ([t / N] if N else []))
        return 2 * (s * t - s * s * N / 2) * bound**2 >= 1
    if inf not in costs.values():  # n²/2C, each rounded up to a multiple of 2^-1500: one denominator for all
        N += Fraction(sum(ceil((n * n << 1500) / (2 * costs[k])) for k, n in of_row.items()), 1 << 1500)
    return bound**2 * t * t >= N


def check(model, data, label, drop, weights_file):
    """Yield a sentence on each claim, and whether it is true."""
    values, labels = read_data(data, label, drop, model)
    weights = [float(line) for line in lines_of(weights_file)] if weights_file else [1.0] * len(labels)
    members = [k for k, weight in enumerate(weights) if weight != 0]  # rows of zero weight are left out
    require(len(weights) == len(labels), f"other data: {len(weights)} weights for {len(labels)} rows", 2)
    kind = str if isinstance(model["classes"][0], str) else float
    labels, classes = [kind(label) for label in labels], {kind(label): c for c, label in enumerate(model["classes"])}
    require(all(labels[k] in classes for k in members), f"other data: a label is none of {model['classes']}", 2)
    numbers, p = whole(value for row in values for _, value in row)
    following, coef, joint = iter(numbers), model["coef"], model["joint"]
    rows, K = [[(j, next(following)) for j, _ in row] for row in values], len(coef) if joint else 1
    require(len(classes) == len(model["classes"]) == max(2, len(coef)), "the classes do not fit the weights")
    if "scaling/kind" in model:
        yield f"about scaled rows ({model['scaling/kind']}), by the numbers that the model has for each feature", None
    for i, margin, bound in zip(range(len(coef) // K), model["margin"], model["upper_bound"], strict=True):
        positive, patterns, costs = 1 if len(coef) == 1 else i, {}, {}
        for k in members:
            c = classes[labels[k]]
            cost = model["class_costs"][c] if joint else model["C_positive" if c == positive else "C_negative"][i]
            costs[k] = inf if cost == inf else Fraction(cost) * Fraction(weights[k])
            of_two = {k: {0: 1 if c == positive else -1}}
            patterns[k] = {k * K + r: {c: 1, r: -1} for r in range(K) if r != c} if joint else of_two
        require(min(costs.values()) > 0 and len({c == inf for c in costs.values()}) == 1, "impossible costs")
        W, b = (coef, model["intercept"]) if joint else ([coef[i]], [model["intercept"][i]])
        part = slice(model["count_starts"][i], model["count_starts"][i + 1])
        counts = list(zip(model["count_rows"][part], model["count_values"][part], strict=True))
        rho, hinge, free = Fraction(model["rho"][i]), model["loss"][i] == "hinge", model["free_bias"][i]
        name, problem = "all" if joint else model["classes"][positive], (rho, hinge, free, rows, p, patterns, costs)
        yield f"class {name} of {model['classes']}: {model['loss'][i]}, bias {'free' if free else float(rho)}", None
        yield f"C {model['class_costs'] if joint else (model['C_positive'][i], model['C_negative'][i])}", None
        yield f"class {name}: the margin is at least {margin!r}", margin_is_true(margin, W, b, *problem)
        yield f"class {name}: no margin is above {bound!r}", bound_is_true(bound, counts, K, *problem)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Check the certificates of a dynmargin model in exact arithmetic.")
    for argument in ("model", "data", "--weights", "--label", "--drop"):
        parser.add_argument(argument)
    given, proven = parser.parse_args(), []
    try:
        for claim, holds in check(read_model(given.model), given.data, given.label, given.drop, given.weights):
            print(claim + {None: "", True: ": proven", False: ": NOT PROVEN"}[holds])
            proven += [] if holds is None else [holds]
    except Exception as error:  # whatever is wrong with a file, nothing is proven by it
        require(False, f"not readable: {type(error).__name__}: {error}")
    sys.exit(0 if proven and all(proven) else 1)
