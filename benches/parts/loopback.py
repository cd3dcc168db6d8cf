"""A server on the loopback, as the measurements need it: each request in a thread, and a client that leaves is no error."""

import http.server


class Quiet:
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        # A client that leaves in the middle is none of ours.
        pass


def serve(answer):
    """Prints the address, then serves until it is ended."""
    server = Server(("127.0.0.1", 0), answer)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
