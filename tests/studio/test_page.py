"""The page in a real browser: scenes, steps, drawing, sharing, exports, keys, and what it says."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from novikoff.studio import make_record
from novikoff.studio.pages import FIRST_MODULE, join_modules, make_page, read_static
from novikoff.studio.scene import make_bundle
from novikoff.studio.scenes import SCENES
from tests.studio.conftest import serving

WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def text_of(page, selector):
    return page.locator(selector).inner_text()


def wait_for_text(page, selector, pattern):
    page.wait_for_function(
        "([selector, pattern]) => new RegExp(pattern, 's').test(document.querySelector(selector)?.innerText ?? '')",
        arg=[selector, pattern],
    )


def require_accessible(page):
    found = Axe().run(page, options=WCAG).response["violations"]
    nodes = [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in found]
    assert nodes == []


# -- scenes

FACTS = {
    "cmu": ("SEPARABLE", ["#verdict", r"margin γ\s+1\s", "#verdict", r"R²\s+5\s", "#verdict", r"bound \(R/γ\)²\s+5\s"]),
    "halfspace": ("SEPARABLE", ["#plane", r"w = \(2, 3\)", "#plane", r"1\.66"]),
    "xor": (
        "NOT SEPARABLE",
        ["#sum", r"− 1·\(0, 0 \| 1\) \+ 1·\(0, 1 \| 1\).*= \(0, 0 \| 0\)", "#plane", "in both hulls"],
    ),
    "nobias": ("NOT SEPARABLE", ["#sum", r"2·\(1, 1\) − 1·\(2, 2\) = \(0, 0\)"]),
    "scaling": ("SEPARABLE", ["#ledger-line", "4,803 mistakes"]),
    "radius": ("SEPARABLE", ["#ledger-line", "4 mistakes"]),
    "nearly": ("SEPARABLE", ["#panel-across", "bound"]),
    "outlier": ("NOT SEPARABLE", ["#verdict", "deviation D"]),
    "noise": ("NOT SEPARABLE", ["#votes-line", r"last \d+, averaged \d+, voted \d+"]),
    "moons": ("SEPARABLE", ["#check", "Not checked in this page"]),
    "circles": ("SEPARABLE", ["#check", "Checked again in this page"]),
    "cases": ("SEPARABLE", ["#verdict", "through the origin"]),
    "descent": ("NOT SEPARABLE", ["#descent-line", "Minimum at w ="]),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_shows_its_facts(name, open_page, address):
    page = open_page(f"{address}?scene={name}")
    word, facts = FACTS[name]
    assert text_of(page, "#verdict-word") == word
    for selector, pattern in zip(facts[::2], facts[1::2], strict=True):
        assert re.search(pattern, page.locator(selector).first.text_content() + " ", re.DOTALL) or re.search(
            pattern, text_of(page, selector) + " ", re.DOTALL
        ), (selector, pattern)
    assert text_of(page, "h1") == SCENES[name].title
    states = {"holds", "unchecked"} if name == "moons" else {"holds"}
    assert page.locator("#check").get_attribute("data-state") in states


def test_a_scene_shows_all_its_variants(open_page, address):
    page = open_page(f"{address}?scene=cases")
    words = []
    for variant in page.locator(".variants button").all_inner_texts():
        page.get_by_role("button", name=variant).click()
        words.append(text_of(page, "#verdict-word"))
        assert page.locator("#check").get_attribute("data-state") == "holds"
    assert words == ["SEPARABLE", "SEPARABLE", "NOT SEPARABLE", "NOT SEPARABLE"]


def test_an_unknown_scene_is_an_error_with_the_names(open_page, address):
    page = open_page(f"{address}?scene=zor", ready=".error")
    assert "There is no scene 'zor'" in text_of(page, ".error")
    assert page.problems.pop().startswith("Failed to load resource")


# -- playing


def test_step_back_scrub_and_jump(open_page, address):
    page = open_page(f"{address}?scene=cmu")
    page.keyboard.press("Home")
    assert "before the first of 12 examples" in text_of(page, "#where")
    weights = []
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
        weights.append(re.search(r"x = (\([^)]*\))\.", text_of(page, "#step").split("w ←")[1]).group(1))
    assert weights == ["(1, −2)", "(2, −1)", "(3, 1)"]
    assert "a tie, which counts as a mistake" in text_of(page, "#step")
    assert "3 ≤ ⟨w,u⟩ = 3 ≤ ‖w‖ = 3.162 ≤ √k·R = 3.873" in text_of(page, "#squeeze-line")
    assert "2 → 3, up by 1 ≥ γ = 1" in text_of(page, "#proof-table tr[aria-current]")
    assert "5 → 10, up by 5 ≤ R² = 5" in text_of(page, "#proof-table tr[aria-current]")
    page.keyboard.press("ArrowLeft")
    assert "example 4 of 12 · 2 mistakes" in text_of(page, "#where")
    page.keyboard.press("Shift+ArrowLeft")
    assert "example 3 of 12" in text_of(page, "#where")
    page.locator("#timeline").fill("6")
    assert "example 7 of 12" in text_of(page, "#where")
    wait_for_text(page, "#live", "Example 7")


def test_play_pause_and_speed(open_page, address):
    page = open_page(f"{address}?scene=cmu")
    for _ in range(9):
        page.keyboard.press("]")
    assert page.locator("#speed").input_value() == "0"  # at once
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    assert "example 12 of 12" in text_of(page, "#where")
    for _ in range(2):
        page.keyboard.press("[")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function("() => document.querySelector('#where').innerText.includes('example 12 of 12')")
    assert text_of(page, "#play") == "Play"


def test_guess_first(open_page, address):
    page = open_page(f"{address}?scene=cmu")
    page.locator("#guess-first").check()
    assert page.locator("#verdict-word").count() == 0
    page.get_by_role("button", name="It will stop").click()
    assert text_of(page, "#verdict-word") == "SEPARABLE"
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    assert "Your guess for point 1?" in text_of(page, "#guess")
    page.keyboard.press("-")
    wait_for_text(page, "#guess-score", "1 of 1 right")


def test_questions_are_answered_by_two_runs(open_page, address):
    page = open_page(f"{address}?scene=nobias")
    page.get_by_role("button", name="Why a bias?").click()
    wait_for_text(page, "#answer", "the bias is needed")
    assert page.locator("#comparison figure").count() == 2
    for question in (
        "Why did it not stop?",
        "How bad can the order make it?",
        "What if I scale by 100?",
        "Does it overfit?",
    ):
        page.get_by_role("button", name=question).click()
        wait_for_text(page, "#answer", "[.]")


# -- drawing


def click_plane(page, x, y):
    box = page.locator("#plane svg").bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_draw_drag_and_delete(open_page, address):
    page = open_page(f"{address}?scene=cmu")
    click_plane(page, 0.9, 0.1)
    wait_for_text(page, "h1", "Your points")
    page.wait_for_function("() => document.querySelectorAll('#plane .point').length === 7")
    wait_for_text(page, "#verdict-word", "^SEPARABLE")
    # A + dragged between the − points leaves no line through the origin.
    point = page.locator("#plane .point").nth(6).bounding_box()
    target = page.locator("#plane .point").nth(0).bounding_box()
    page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    page.mouse.down()
    page.mouse.move(target["x"] + 6, target["y"] + 60, steps=6)
    page.mouse.up()
    wait_for_text(page, "#verdict-word", "^NOT SEPARABLE")
    page.wait_for_selector("#check[data-state=holds]")
    page.locator("#plane .point").nth(6).focus()
    page.keyboard.press("Delete")
    page.wait_for_function("() => document.querySelectorAll('#plane .point').length === 6")
    wait_for_text(page, "#verdict-word", "^SEPARABLE")


def test_points_by_keyboard_and_table(open_page, address):
    page = open_page(f"{address}?scene=xor")
    page.locator("#panel-points summary").click()
    page.locator("#points-table input").nth(6).fill("3")
    page.keyboard.press("Enter")
    wait_for_text(page, "#verdict-word", "^(NOT )?SEPARABLE")
    wait_for_text(page, "h1", "Your points")
    page.get_by_role("button", name="Add a point").click()
    page.wait_for_function("() => document.querySelectorAll('#points-table tbody tr').length === 5")
    point = page.locator("#plane .point").nth(4)
    before = point.get_attribute("aria-label")
    point.focus()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function(
        "before => document.querySelectorAll('#plane .point')[4].getAttribute('aria-label') !== before", arg=before
    )
    page.get_by_role("button", name="Delete point 5").click()
    page.wait_for_function("() => document.querySelectorAll('#points-table tbody tr').length === 4")
    page.get_by_role("button", name="Remove all points").click()
    wait_for_text(page, "#verdict", "Both labels are needed")


def test_settings_change_the_run(open_page, address):
    page = open_page(f"{address}?scene=xor")
    page.locator("select[name=kernel]").select_option("rbf")
    wait_for_text(page, "#verdict-word", "^SEPARABLE")
    page.locator("input[name=gamma]").fill("-1")
    page.keyboard.press("Enter")
    wait_for_text(page, ".error", "gamma must be a number from 0")
    assert page.problems.pop().startswith("Failed to load resource")


# -- sharing and exports


def test_a_shared_link_shows_the_same(open_page, address):
    page = open_page(f"{address}?scene=xor")
    page.locator("select[name=order]").select_option("worst")
    wait_for_text(page, "h1", "Your points")
    page.wait_for_selector("#check")
    page.locator("#timeline").fill("5")
    where = text_of(page, "#where")
    page.locator("#share").click()
    page.wait_for_function("() => location.hash.startsWith('#v1=')")
    shared = page.evaluate("location.href")
    assert "open" not in shared
    other = open_page(shared)
    assert text_of(other, "#where") == where
    assert other.locator("select[name=order]").input_value() == "worst"


OLD_LINK = "#v1=q1YqVrJSqsgvUtJRylSyMtBRSixRsjKtBQA"


def test_links_of_the_first_version_keep_working(open_page, address):
    page = open_page(address + OLD_LINK)
    assert text_of(page, "h1") == SCENES["xor"].title
    assert "example 6 of" in text_of(page, "#where")


@pytest.mark.parametrize(("fragment", "words"), [("#v9=abc", "newer studio"), ("#v1=abc", "damaged")])
def test_links_that_cannot_be_read(fragment, words, open_page, address):
    page = open_page(address + fragment, ready=".error")
    assert words in text_of(page, ".error")
    assert text_of(page, "#verdict-word") == "SEPARABLE"  # of the scene that is shown instead


def test_an_exported_page_plays_from_disk(open_page, address, tmp_path):
    page = open_page(f"{address}?scene=xor")
    page.locator(".menu summary").click()
    with page.expect_download() as download:
        page.locator("#save-page").click()
    path = tmp_path / "xor.html"
    download.value.save_as(path)
    assert path.read_bytes() == make_page(make_bundle(SCENES["xor"]))
    saved = open_page(path.as_uri(), offline=True)
    assert text_of(saved, "#verdict-word") == "NOT SEPARABLE"
    assert saved.locator("#check").get_attribute("data-state") == "holds"
    saved.keyboard.press("Home")
    saved.keyboard.press("ArrowRight")
    assert "example 1 of 100" in text_of(saved, "#where")
    require_accessible(saved)


@pytest.mark.parametrize(
    ("name", "start"), [("Picture (SVG)", b"<svg"), ("Picture (PNG)", b"\x89PNG"), ("Record (JSON)", b'{"record":1')]
)
def test_pictures_and_records(name, start, open_page, address, tmp_path):
    page = open_page(f"{address}?scene=cmu")
    page.locator(".menu summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    path = tmp_path / "saved"
    download.value.save_as(path)
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 1000


def test_a_tampered_certificate_is_refused(open_page, tmp_path):
    for name, change in (
        ("xor", lambda verdict: verdict["multipliers"].__setitem__(0, "2")),
        ("cmu", lambda verdict: verdict.update(margin_lower=verdict["margin_lower"] * 1.001)),
        ("cmu", lambda verdict: verdict.update(margin_upper=verdict["margin_upper"] * 0.999)),
        ("cmu", lambda verdict: verdict.update(w=[-1.0, 0.0])),
        ("cmu", lambda verdict: verdict.update(radius=2.0)),
    ):
        bundle = json.loads(json.dumps(make_bundle(SCENES[name])))
        change(bundle["variants"][0]["record"]["verdict"])
        path = tmp_path / "tampered.html"
        path.write_bytes(make_page(bundle))
        page = open_page(path.as_uri())
        assert page.locator("#check").get_attribute("data-state") == "refused", name
        assert "REFUSED" in text_of(page, "#check")


CHECK = """async (records) => {
    const { checkCertificate } = await import("/static/exact.js");
    return records.map((record) => checkCertificate(record).state);
}"""


def test_the_page_and_python_agree_about_random_certificates(open_page, address):
    """True ones hold, however small or large the numbers; ones with a last digit changed are refused."""
    rng = np.random.default_rng(8)
    records, tampered = [], []
    for k in range(60):
        scale = 10.0 ** rng.integers(-8, 9)
        X = rng.integers(-3, 4, (6, 2)) * scale if k % 2 else rng.normal(size=(6, 2)) * scale
        y = rng.choice([-1, 1], 6)
        settings = {"fit_intercept": bool(k % 3), "passes": 1}
        if k % 5 == 0 and abs(scale) < 100:
            settings |= {"kernel": "poly", "degree": 2}
        record = make_record([[*x, int(label)] for x, label in zip(X.tolist(), y, strict=True)], settings)
        if record["verdict"] is None:
            continue
        records.append(record)
        wrong = copy.deepcopy(record)
        verdict = wrong["verdict"]
        if verdict["separable"]:
            verdict["margin_lower"] = verdict["margin_lower"] * (1.0 + 1e-6)
        else:
            verdict["multipliers"][-1] = str(int(verdict["multipliers"][-1]) + 1)
        tampered.append(wrong)
    separable = [record["verdict"]["separable"] for record in records]
    assert 10 < sum(separable) < len(separable) - 10
    page = open_page(f"{address}?scene=cmu")
    assert set(page.evaluate(CHECK, records)) == {"holds"}
    # A witness of one point, the origin, is true with every multiplier.
    alone = [len(record["verdict"].get("rows", [0, 0])) == 1 for record in records]
    states = page.evaluate(CHECK, tampered)
    assert {state for state, is_alone in zip(states, alone, strict=True) if not is_alone} == {"refused"}


def test_embedded_pages_hide_controls(open_page, address):
    page = open_page(f"{address}?scene=cmu&embed=1&hide=panels,intro")
    assert not page.locator("header").is_visible()
    assert not page.locator("#panels").is_visible()
    assert not page.locator("#intro").is_visible()
    assert page.locator("#play").is_visible()


def test_lessons(open_page, tmp_path):
    from novikoff.studio.lessons import read_lesson

    path = tmp_path / "week3.json"
    steps = [{"scene": "xor", "text": "Look.", "question": "Can a line do it?"}, {"scene": "nobias", "variant": 1}]
    path.write_text(json.dumps({"title": "Week 3", "steps": steps}))
    with serving(lesson=read_lesson(path)) as studio:
        page = open_page(studio.address)
        assert "Week 3, 1 of 2" in text_of(page, "#lesson")
        assert "Can a line do it?" in text_of(page, "#lesson")
        page.get_by_role("button", name="Next →").click()
        wait_for_text(page, "#lesson", "2 of 2")
        assert text_of(page, "#verdict-word") == "SEPARABLE"


# -- for everyone


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("cmu", "light"),
        ("cmu", "dark"),
        ("noise", "light"),
        ("noise", "dark"),
        ("xor", "dark"),
        ("moons", "light"),
        ("nearly", "light"),
        ("descent", "dark"),
    ],
)
def test_axe_finds_nothing(name, scheme, open_page, address):
    page = open_page(f"{address}?scene={name}", color_scheme=scheme)
    while page.locator(".panel:not([open]) summary").count():
        page.locator(".panel:not([open]) summary").first.click()
    require_accessible(page)


def test_axe_finds_nothing_in_the_help(open_page, address):
    page = open_page(address)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    require_accessible(page)
    page.keyboard.press("Escape")


def test_narrow_screens_need_no_sideways_scrolling(open_page, address):
    page = open_page(f"{address}?scene=xor", viewport={"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator("#play").is_visible()
    heights = page.evaluate("""() => [...document.querySelectorAll("#plane .tick, .chart .tick")].map(
        (text) => text.getBoundingClientRect().height)""")
    assert min(heights) > 8  # pixels: what is written in drawings does not shrink with them


def test_nothing_moves_where_motion_is_not_wanted(open_page, address):
    page = open_page(f"{address}?scene=cmu", reduced_motion="reduce")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert "Mistake number 1" in text_of(page, "#step")  # at once: no animation comes first


# -- what is shipped


def test_scripts_and_styles_are_small():
    files = [path for path in Path(str(STATIC)).iterdir() if path.suffix in (".js", ".css")]
    assert sum(path.stat().st_size for path in files) < 150_000


STATIC = Path(__file__).parents[2] / "src" / "novikoff" / "studio" / "static"


def test_nothing_is_loaded_from_elsewhere():
    for path in STATIC.iterdir():
        addresses = set(re.findall(r"https?://[^\s\"'`)]+", path.read_text()))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path.name


def test_names_at_top_level_differ_in_all_modules():
    """Else the modules could not be joined into one."""
    names = [
        name
        for path in STATIC.glob("*.js")
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", path.read_text(), re.MULTILINE
        )
    ]
    assert len(names) > 80
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_every_module_is_joined():
    joined = join_modules()
    for path in STATIC.glob("*.js"):
        assert f"// {path.name}\n" in joined
    assert "import {" not in joined
    assert not re.search(r"^export ", joined, re.MULTILINE)
    assert joined.rstrip().endswith(read_static(FIRST_MODULE).decode().rstrip()[-40:])
