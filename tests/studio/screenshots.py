"""Pictures of the scenes for docs/studio.md: python -m tests.studio.screenshots."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from novikoff.studio.pages import make_page
from novikoff.studio.scene import make_bundle
from novikoff.studio.scenes import SCENES
from tests.studio.conftest import CHROMIUM

FOLDER = Path(__file__).parents[2] / "docs" / "studio"
_COLORS = 255  # enough for drawings, and a third of the bytes


def save(page: Page, name: str) -> None:
    """Write what the window shows, in few colours."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(_COLORS, kmeans=2).save(FOLDER / f"{name}.png", optimize=True)


def main() -> None:
    """Draw every scene as its exported page shows it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, scene in SCENES.items():
            page = browser.new_page(viewport={"width": 1200, "height": 1240})
            page.set_content(make_page(make_bundle(scene)).decode())
            page.wait_for_selector("#verdict-word")
            if name == "cmu":
                page.keyboard.press("Home")
                for _ in range(3):
                    page.keyboard.press("Shift+ArrowRight")
                page.wait_for_timeout(600)
            save(page, name)
            page.close()
        page = browser.new_page(viewport={"width": 1200, "height": 1240}, color_scheme="dark")
        page.set_content(make_page(make_bundle(SCENES["cmu"])).decode())
        page.wait_for_selector("#verdict-word")
        save(page, "dark")
        browser.close()


if __name__ == "__main__":
    main()
