"""Serves a directory of wheels on the loopback as a package index: pages in both forms, metadata beside the wheels, ranges.

index.py DIRECTORY LOG   prints its address, then serves until it is ended. LOG gets the name of each wheel that is asked for.
"""

import hashlib
import html
import http.server
import json
import os
import re
import sys
import zipfile

from loopback import Quiet, serve

directory, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA") and n.count("/") == 1)
        return archive.read(name)


class Wheel:
    def __init__(self, name):
        self.name = name
        self.path = os.path.join(directory, name)
        self.size = os.path.getsize(self.path)
        with open(self.path, "rb") as file:
            self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        self.metadata = metadata(self.path)
        self.project = re.sub(r"[-_.]+", "-", name.split("-")[0]).lower()
        self.version = name.split("-")[1]


wheels = {name: Wheel(name) for name in sorted(os.listdir(directory)) if name.endswith(".whl")}


class Answer(Quiet, http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        if found := re.fullmatch(r"/simple/([^/]+)/?", self.path):
            self.page(found[1])
        elif self.path.startswith("/files/") and name in wheels:
            log.write(name + "\n")
            self.file(wheels[name])
        elif self.path.startswith("/files/") and name.removesuffix(".metadata") in wheels:
            self.whole(wheels[name.removesuffix(".metadata")].metadata, "application/octet-stream")
        else:
            self.send_error(404)

    do_HEAD = do_GET

    def page(self, project):
        files = [w for w in wheels.values() if w.project == project]
        if not files:
            self.send_error(404)
        elif "application/vnd.pypi.simple.v1+json" in self.headers.get("Accept", ""):
            entry = lambda w: {
                "filename": w.name,
                "url": "/files/" + w.name,
                "hashes": {"sha256": w.sha256},
                "size": w.size,
                "core-metadata": {"sha256": hashlib.sha256(w.metadata).hexdigest()},
            }
            versions = sorted({w.version for w in files})
            page = {"meta": {"api-version": "1.1"}, "name": project, "versions": versions, "files": [entry(w) for w in files]}
            self.whole(json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")
        else:
            link = lambda w: f'<a href="/files/{html.escape(w.name)}#sha256={w.sha256}">{html.escape(w.name)}</a><br>\n'
            self.whole(("<!DOCTYPE html>\n" + "".join(map(link, files))).encode(), "text/html")

    def whole(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def file(self, wheel):
        first, last = 0, wheel.size - 1
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted and wanted[1]:
            first, last = int(wanted[1]), min(int(wanted[2] or last), last)
        elif wanted and wanted[2]:
            first = max(wheel.size - int(wanted[2]), 0)
        if first > last:
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{wheel.sha256[:32]}"')
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{wheel.size}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.flush()
            with open(wheel.path, "rb") as file:
                self.connection.settimeout(None)
                while first <= last:
                    first += os.sendfile(self.connection.fileno(), file.fileno(), first, last - first + 1)


serve(Answer)
