"""How a fitted classifier shows what it has: its history as a table, its certificate in a notebook."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..certificate import Certificate
from ..certificate_html import certificate_table
from ..outcome import Check


class Reports:
    """What a classifier tells about itself after a fit."""

    classes_: NDArray[Any]
    certificates_: list[Certificate]
    history_: list[Check]

    def history_frame(self) -> Any:
        """Give ``history_`` as a table.

        Returns
        -------
        pandas.DataFrame
            A row a check: time in seconds, passes, updates, margin, upper bound, gap, and the class that was trained
            against the rest ("all" for a joint margin).
        """
        import pandas

        check_is_fitted(self)
        frame = pandas.DataFrame(self.history_, columns=list(Check._fields))
        positive = np.array([certificate.problem.positive for certificate in self.certificates_])
        frame["gap"] = [check.gap for check in self.history_]
        frame["class"] = positive[frame.pop("problem")]
        return frame

    def _html_repr(self) -> str:
        """Show the parameters as scikit-learn does and, after a fit, what is proven."""
        parameters: str = super()._html_repr()  # type: ignore[misc]
        certificates = getattr(self, "certificates_", None)
        return parameters + certificate_table(certificates) if certificates else parameters
