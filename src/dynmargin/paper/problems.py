"""The paper's nine problems, and stand-ins: the files they need, and how wrong ones are refused."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..data.archives import SUFFIXES
from ..data.dataset import DataError
from . import readers
from .readers import Rows, Sides
from .stand_ins import make_like

LIBSVM_PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"
UCI_PAGE = "https://archive.ics.uci.edu/dataset/31/covertype"
KDD_PAGE = "https://www.kdd.org/kdd-cup/view/kdd-cup-2004/Data"
RCV1_PAGE = "http://www.jmlr.org/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"
NEWSGROUPS_PAGE = "http://qwone.com/~jason/20Newsgroups/"


@dataclass(frozen=True)
class Problem:
    """A two-class problem: what its files are called, and what they must contain.

    Attributes
    ----------
    name : str
        What the command line calls it.
    title : str
        What tables call it.
    delta : float
        The extension, the paper's Delta.
    shape : tuple of two int
        m and n of the paper.
    positives : int or None
        Rows of the positive side, counted in the file itself; None for files that were not available.
    files : tuple of str
        The files needed, without the suffix of a compressed one; " or " separates the names that a file may have. It
        may lie in a folder of the set's name or not.
    source : str
        Where to download them.
    read : function
        From the files and n to rows and sides.
    stands_for : str
        The paper's set that it replaces, for a stand-in.
    """

    name: str
    title: str
    delta: float
    shape: tuple[int, int]
    positives: int | None
    files: tuple[str, ...]
    source: str = LIBSVM_PAGE
    read: Callable[[list[Path], int], tuple[Rows, Sides]] = readers.read_two_classes
    stands_for: str = ""

    @property
    def C(self) -> float:
        """The price of a squared slack that Delta amounts to."""
        return 1 / (2 * self.delta**2)

    @property
    def wanted(self) -> str:
        """The names of the files."""
        return ", ".join(Path(file.split(" or ")[0]).name for file in self.files)

    def find(self, folder: Path) -> list[Path] | None:
        """Find the files, plain or compressed; None if one is missing."""
        found = [_find(folder, file.split(" or ")) for file in self.files]
        return None if None in found else [path for path in found if path]

    def load(self, folder: Path) -> tuple[Rows, Sides]:
        """Read the problem; a file that is not the paper's is refused."""
        files = self.find(folder)
        if files is None:
            raise DataError(f"{self.title} needs {self.wanted}, available from {self.source}", str(folder))
        X, y = self.read(files, self.shape[1])
        seen, positives = X.shape, int((y > 0).sum())
        if seen != self.shape or (self.positives is not None and positives != self.positives):
            expected = "" if self.positives is None else f", {self.positives} of them positive"
            raise DataError(
                f"this is not the paper's {self.title}: {self.shape[0]} rows and {self.shape[1]} columns"
                f"{expected} were expected; there are {seen[0]} and {seen[1]}, {positives} positive",
                str(files[0]) if files else self.name,
            )
        return X, y


def _find(folder: Path, names: list[str]) -> Path | None:
    places = (place for name in names for place in (folder / name, folder / Path(name).name))
    candidates = (place.with_name(place.name + suffix) for place in places for suffix in ("", *SUFFIXES))
    return next((path for path in candidates if path.is_file()), None)


RCV1_FILES = (
    "rcv1/lyrl2004_vectors_train.dat",
    *(f"rcv1/lyrl2004_vectors_test_pt{part}.dat" for part in range(4)),
    "rcv1/rcv1-v2.topics.qrels",
)
WEBSPAM_FILE = "webspam/webspam_wc_normalized_unigram.svm or webspam/webspam_wc_normalized_unigram"
COVERTYPE_FILE = "covertype/covtype.csv or covertype/covtype.data"

PAPER = (
    Problem("adult", "Adult", 1.0, (32561, 123), 7841, ("adult/a9a",)),
    Problem("web", "Web", 1.0, (49749, 300), 1479, ("web/w8a",)),
    Problem("physics", "Physics", 1.0, (50000, 70), None, ("physics/phy_train.dat",), KDD_PAGE, readers.read_physics),
    Problem("real-sim", "Real-sim", 0.1, (72309, 20958), None, ("real-sim/real-sim",)),
    Problem("news20", "News20", 0.1, (19996, 1355191), None, ("news20/news20.binary",)),
    Problem("webspam", "Webspam", 0.3, (350000, 254), None, (WEBSPAM_FILE,)),
    Problem("covertype", "Covertype", 3.0, (581012, 54), 211840, (COVERTYPE_FILE,), UCI_PAGE, readers.read_covertype),
    Problem("c11", "C11", 0.3, (804414, 47236), None, RCV1_FILES, RCV1_PAGE, readers.read_c11),
    Problem("ccat", "CCAT", 0.3, (804414, 47236), None, RCV1_FILES, RCV1_PAGE, readers.read_ccat),
)
GENERATED = "nowhere: it is generated"


def _like(problem: Problem, per_row: int, positive: float) -> Problem:
    """Return a generated stand-in: the same rows and columns, about the same non-zeros and share of positive rows."""
    title, read = (
        f"{problem.name}-like (generated)",
        partial(make_like, rows=problem.shape[0], per_row=per_row, positive=positive),
    )
    made = replace(problem, name=f"{problem.name}-like", title=title, positives=None, files=(), source=GENERATED)
    return replace(made, read=read, stands_for=problem.name)


NOT_HERE = {  # non-zeros per row and share of positive rows, as the sets are commonly described
    "physics": (70, 0.5),
    "real-sim": (51, 0.31),
    "news20": (455, 0.5),
    "webspam": (85, 0.61),
    "c11": (76, 0.03),
    "ccat": (76, 0.47),
}
STAND_INS = (
    Problem(
        *("newsgroups", "newsgroups (for News20)", 0.1, (18846, 1664489), 9373, ("newsgroups/20news-bydate.tar",)),
        *(NEWSGROUPS_PAGE, readers.read_newsgroups, "news20"),
    ),
    Problem(
        *("rcv1-like", "rcv1-like (for C11, CCAT)", 0.3, (804414, 47236), None, ()),
        *(GENERATED, readers.make_rcv1_like, "c11"),
    ),
    *(_like(problem, *NOT_HERE[problem.name]) for problem in PAPER if problem.name in NOT_HERE),
)
PROBLEMS = {problem.name: problem for problem in (*PAPER, *STAND_INS)}


def data_folder(chosen: str | None) -> Path:
    """Return where to look: what is chosen, DYNMARGIN_DATA, or the user's cache."""
    if named := chosen or os.environ.get("DYNMARGIN_DATA"):
        return Path(named)
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library/Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "dynmargin"
