"""Readers and writers of data, one file per format, and files that are written as a whole or not at all.

It may import `problem` and the core.
"""

from typing import Literal, get_args

Format = Literal["libsvm", "csv", "tsv", "parquet", "npz", "folder"]
FORMATS: tuple[Format, ...] = get_args(Format)
