"""limit_file_size.py BYTES COMMAND...: runs it where no file may grow beyond BYTES.

What a full disk looks like to a program, without needing a disk of one's own.
"""

import os
import resource
import signal
import sys

limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.execvp(sys.argv[2], sys.argv[2:])
