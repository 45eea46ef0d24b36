"""What stands in front of the routes: other names, other sites, large, slow and many bodies."""

import asyncio

import pytest
from starlette.exceptions import HTTPException

from gramian.web.guard import MOST_UPLOADS, Guard
from web.servers import FAKE, one_line, serving


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8765", "localhost.evil", "", ":8765", "[::2]", "a@127.0.0.1"]
)
def test_other_hosts_are_refused(fake, host):
    assert "--allow-host" in one_line(fake.get("/api/jobs", headers={"Host": host}), 400)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8765", "LOCALHOST"])
def test_names_of_this_machine_are_taken(fake, host):
    assert fake.get("/api/jobs", headers={"Host": host}).status_code == 200


def test_a_name_that_the_server_was_given_is_taken(tmp_path):
    with serving(tmp_path, worker=FAKE, hosts=["Tables.example", "fd00::7"]) as client:
        for host in ("tables.example", "[fd00::7]:80"):
            assert client.get("/", headers={"Host": host}).status_code == 200
        assert client.get("/", headers={"Host": "www.tables.example"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1:8765.evil.example"},
        {"Origin": "http://[evil"},
        {"Origin": "http://evil@127.0.0.1:8765"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_change_nothing(fake, headers):
    id = fake.begin("x")
    fake.wait_for(id)
    for method, path in (
        ("POST", "/api/uploads"),
        ("POST", "/api/jobs"),
        ("POST", f"/api/jobs/{id}/again"),
        ("POST", f"/api/jobs/{id}/restart"),
        ("POST", f"/api/jobs/{id}/cancel"),
        ("DELETE", f"/api/jobs/{id}"),
    ):
        assert "another site" in one_line(fake.request(method, path, headers=headers), 403)
    assert len(fake.get("/api/jobs").json()["jobs"]) == 1


def test_the_own_page_may_change_things(fake):
    headers = {"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"}
    response = fake.post("/api/jobs", json={"table": "iris"}, headers=headers)
    assert response.status_code == 201


@pytest.mark.parametrize("announced", [None, b"5"])
def test_a_body_without_end_is_refused_as_soon_as_it_is_too_large(fake, announced):
    """Against the application itself: a client of the tests would send the whole body first."""
    head = b'--X\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n'
    headers = [(b"host", b"localhost"), (b"content-type", b"multipart/form-data; boundary=X")]
    if announced is not None:
        headers.append((b"content-length", announced))
    taken, sent = [], []

    async def receive():
        taken.append(1)
        return {"type": "http.request", "body": head if len(taken) == 1 else b"x" * 10_000, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/uploads", "headers": headers, "query_string": b""}
    scope |= {"scheme": "http", "server": ("localhost", 80), "root_path": "", "raw_path": b"/api/uploads"}
    asyncio.run(fake.app(scope | {"asgi": {"version": "3.0"}, "http_version": "1.1"}, receive, send))
    assert sent[0]["status"] == 413
    assert len(taken) == 12  # the head, ten blocks that fit, one that does not
    assert not list(fake.app.state.jobs.folder.glob(".new-*"))


def test_other_requests_are_small(fake):
    line = one_line(fake.post("/api/jobs", content=b'{"table": "' + b"x" * 70_000 + b'"}'), 413)
    assert line == "the request is too large"


def test_the_page_and_its_headers(fake):
    for path, kind in (("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")):
        response = fake.get(path)
        assert response.headers["content-type"].startswith(kind)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'self'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in fake.get("/api/jobs").headers
    assert fake.get("/openapi.json").status_code == fake.get("/docs").status_code == 404


def called(receive):
    """The status with which the guard lets an upload end whose body comes from ``receive``."""
    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/api/uploads", "headers": headers}

    async def told(scope, receive, send):
        """An application that reads the body and answers, or says with which status it was stopped."""
        status = 200
        try:
            while (await receive()).get("more_body", False):
                pass
        except HTTPException as error:
            status = error.status_code
        await send({"type": "http.response.start", "status": status, "headers": []})

    guard = Guard(told, {"localhost"}, 10**9, patience=0.05)

    async def run():
        await guard(scope, receive, send)

    asyncio.run(asyncio.wait_for(run(), 30))
    return sent[0]["status"]


def test_a_body_that_stops_is_given_up():
    async def receive():
        await asyncio.sleep(60)

    assert called(receive) == 408


def test_a_body_that_drips_is_given_up():
    """A byte now and then is no upload."""

    async def receive():
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    assert called(receive) == 408


def test_a_slow_body_that_goes_on_is_taken():
    """Four times the patience, at a hundred times the pace."""
    blocks = []

    async def receive():
        await asyncio.sleep(0.01)
        blocks.append(1)
        return {"type": "http.request", "body": b"x" * 10_000, "more_body": len(blocks) < 20}

    assert called(receive) == 200


def test_the_number_of_uploads_at_a_time_is_limited():
    async def body():
        await asyncio.sleep(60)

    statuses = []

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def reads(scope, receive, send):
        await receive()

    guard = Guard(reads, {"localhost"}, 10**9)
    scope = {"type": "http", "method": "POST", "path": "/api/uploads", "headers": [(b"host", b"localhost")]}

    async def run():
        tasks = [asyncio.create_task(guard(scope, body, send)) for _ in range(MOST_UPLOADS + 3)]
        await asyncio.sleep(0.05)
        assert statuses == [503] * 3
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        again = asyncio.create_task(guard(scope, body, send))
        await asyncio.sleep(0.05)
        assert statuses == [503] * 3
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)

    asyncio.run(run())
