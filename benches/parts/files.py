"""Serves a directory on the loopback as any static server does, and notes which files are asked for.

files.py DIRECTORY LOG   prints its address, then serves until it is ended. LOG gets the path of each file that is asked for.
"""

import functools
import http.server
import os
import shutil
import sys

from loopback import Quiet, serve

directory, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)


class Answer(Quiet, http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def copyfile(self, source, _):
        log.write(self.path.lstrip("/") + "\n")
        self.wfile.flush()
        if hasattr(source, "fileno"):
            self.connection.settimeout(None)
            while os.sendfile(self.connection.fileno(), source.fileno(), None, 1 << 20):
                pass
        else:
            shutil.copyfileobj(source, self.wfile)


serve(functools.partial(Answer, directory=directory))
