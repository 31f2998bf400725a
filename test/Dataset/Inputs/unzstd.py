"""unzstd.py FILE: decompresses to standard output, by the library that LLVM itself needs."""

import ctypes
import pathlib
import sys

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
zstd.ZSTD_decompress.restype = ctypes.c_size_t
data = pathlib.Path(sys.argv[1]).read_bytes()
size = zstd.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
text = ctypes.create_string_buffer(size)
length = zstd.ZSTD_decompress(text, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
assert length == size, "damaged"
sys.stdout.buffer.write(text.raw)
