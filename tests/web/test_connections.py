"""Connections that say nothing, or only half of what they want, end by themselves; their number is limited."""

import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx2
import pytest

from gramian.web.connections import MOST_CONNECTIONS
from web.servers import FAKE, SERVER, wait_until

PATIENCE = 1.0
HALF = b"POST /api/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Host and port of a real server that waits a second for a request."""
    command = [sys.executable, "-c", SERVER, str(tmp_path_factory.mktemp("jobs")), str(PATIENCE), *FAKE]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = urlsplit(server.stdout.readline().strip())
        yield url.hostname, url.port
    finally:
        server.terminate()
        server.wait(30)
        server.stdout.close()


def told(connection):
    """Everything until the server ends the connection."""
    connection.settimeout(30)
    answer = b""
    try:
        while data := connection.recv(1000):
            answer += data
    except ConnectionResetError:
        pass
    return answer


@pytest.mark.parametrize("sent", [b"", HALF], ids=["nothing", "half"])
def test_half_a_request_ends(address, sent):
    begun = time.monotonic()
    with socket.create_connection(address) as connection:
        connection.sendall(sent)
        assert told(connection) == b""
    assert time.monotonic() - begun < PATIENCE + 15


def test_half_of_a_second_request_ends(address):
    """The time of a request begins with its first byte, also on a connection that was used before."""
    begun = time.monotonic()
    with socket.create_connection(address) as connection:
        connection.sendall(b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
        time.sleep(0.2)
        connection.sendall(b"GET")
        told(connection)
    assert time.monotonic() - begun < PATIENCE + 15


def test_headers_that_drip_end(address):
    """A header line now and then does not begin the time again."""
    begun = time.monotonic()

    def drip():
        connection.sendall(b"X-More: 1\r\n")
        time.sleep(0.1)
        return time.monotonic() > begun + PATIENCE + 15

    with socket.create_connection(address) as connection:
        connection.sendall(HALF)
        with pytest.raises(ConnectionError):
            wait_until(drip)


def test_half_an_upload_ends(address):
    with socket.create_connection(address) as connection:
        connection.sendall(
            HALF + b"Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 5000\r\n\r\n--X\r\n"
        )
        answer = told(connection)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"the request stopped in the middle; send it again" in answer


def test_connections_are_limited_and_make_room_again(address):
    with ExitStack() as stack:
        many = [stack.enter_context(socket.create_connection(address)) for _ in range(MOST_CONNECTIONS + 20)]
        answers = [told(connection) for connection in many]
    refused = [answer for answer in answers if answer]
    assert len(refused) >= 20
    assert all(answer.startswith(b"HTTP/1.1 503") and b"too many connections" in answer for answer in refused)
    with httpx2.Client(base_url="http://{}:{}".format(*address), trust_env=False, timeout=60) as client:
        assert client.get("/api/jobs").status_code == 200
