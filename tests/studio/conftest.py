"""A studio that serves, and a real Chromium that may reach nothing but it."""

import contextlib
import os
import re
import shutil
import threading
import time

import pytest
import uvicorn

from novikoff.studio.files import FileViews
from novikoff.studio.server import Studio, bind

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LOCAL = re.compile(r"^(http://127\.0\.0\.1:\d+/|file:|data:|blob:|about:)")


@contextlib.contextmanager
def serving(*, lesson=None, file=None, target=None):
    """Serve a studio in a thread, and yield it."""
    listening = bind(0)
    listening.listen()
    studio = Studio(listening.getsockname()[1], FileViews(file, target), lesson)
    config = uvicorn.Config(studio.make_app(), log_level="warning", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    with studio.files:
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield studio
        finally:
            server.should_exit = True
            thread.join(20)
            listening.close()


@pytest.fixture(scope="session")
def studio():
    with serving() as served:
        yield served


@pytest.fixture(scope="session")
def address(studio):
    """The address of the page, which has no token."""
    return f"http://127.0.0.1:{studio.port}/"


@pytest.fixture(scope="session")
def browser():
    """A real Chromium. Where there is none the tests are skipped, as the last line says, and in CI they fail."""
    if CHROMIUM is None:
        message = "No Chromium here, so the studio is not tested in a browser. On Debian: apt install chromium"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens an address in a new window; errors and foreign requests fail the test."""
    problems, contexts = [], []

    def open_(address, *, ready="#verdict-word", **options):
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.set_default_timeout(90_000)

        def guard(route):
            if LOCAL.match(route.request.url):
                route.continue_()
            else:
                problems.append(f"a request to {route.request.url}")
                route.abort()

        context.route("**/*", guard)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.problems = problems
        page.goto(address)
        if ready:
            page.wait_for_selector(ready)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []
