"""LIBLINEAR's multicore build, in an interpreter of its own: it has the same module name as LIBLINEAR itself.

    python -m venv multicore && multicore/bin/pip install liblinear-multicore numpy scipy
    python -m benchmarks compare --multicore multicore/bin/python --sets adult

Run as a program, this file is the other end: it reads a problem and then one command after the other, trains, and
answers with the seconds of the conversion and of the solver, and the weights.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

CLOCK = time.perf_counter


class Multicore:
    """The solver of LIBLINEAR's multicore build (-s 1 or 2) on some threads, talked to over pipes."""

    conversion = 0.0

    def __init__(self, interpreter, solver, threads):
        self.interpreter, self.solver, self.threads = interpreter, solver, threads
        self.process = None

    def available(self):
        """Whether it can take part: whoever names an interpreter wants it to."""
        return True

    def prepare(self, X, C):
        """Hand the rows over as a file."""
        if self.process is not None:
            self.process.kill()
        self.X, self.C, self.process = sp.csr_matrix(X, dtype=np.float64), C, None

    def fit(self, sides, tolerance, random_state=0):
        """Train in the other process; the time to hand over rows and weights does not count."""
        if self.process is None:
            self._start(sides)
        self.process.stdin.write(json.dumps([self.solver, self.C, tolerance, self.threads]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.conversion, self.seconds = answer["conversion"], answer["solver"]
        w = np.load(answer["weights"])
        return w[:-1], float(w[-1])

    def _start(self, sides):
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "problem.npz"
        np.savez(path, data=self.X.data, indices=self.X.indices, indptr=self.X.indptr, shape=self.X.shape, y=sides)
        self.process = subprocess.Popen(
            [self.interpreter, __file__, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )


def main():
    from liblinear import liblinear, liblinearutil

    path = Path(sys.argv[1])
    stored = np.load(path)
    X = sp.csr_matrix((stored["data"], stored["indices"], stored["indptr"]), tuple(stored["shape"]))
    y = stored["y"].astype(np.float64)
    silent = liblinear.PRINT_STRING_FUN(lambda _: None)
    for line in sys.stdin:
        solver, C, tolerance, threads = json.loads(line)
        start = CLOCK()
        problem = liblinearutil.problem(y, X, bias=1)
        converted = CLOCK()
        options = liblinearutil.parameter(f"-s {solver} -c {C} -B 1 -e {tolerance} -m {threads}")
        options.print_func = silent
        model = liblinearutil.train(problem, options)
        trained = CLOCK()
        weights = path.with_name("weights.npy")
        np.save(weights, np.array(model.w[: X.shape[1] + 1]) * (1 if model.label[0] > 0 else -1))
        answer = {"conversion": converted - start, "solver": trained - converted, "weights": str(weights)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
