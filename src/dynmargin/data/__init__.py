"""Readers and writers: LIBSVM text, CSV, Parquet, .npz, and a folder of memory-mappable arrays."""
