"""corrupt.py FROM TO: a copy of a SQLite file whose pages, but the first, are noise."""

import random
import sys

with open(sys.argv[1], "rb") as source:
    data = bytearray(source.read())
noise = random.Random(0)
data[4096:] = noise.randbytes(max(len(data) - 4096, 4096))
with open(sys.argv[2], "wb") as target:
    target.write(data)
