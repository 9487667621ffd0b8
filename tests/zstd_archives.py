"""Archives of zstd, for tests: by the standard library from Python 3.14 on, before that by a package."""

try:
    from compression.zstd import compress as compress_zstd
except ImportError:
    from zstandard import compress as compress_zstd

__all__ = ["compress_zstd"]
