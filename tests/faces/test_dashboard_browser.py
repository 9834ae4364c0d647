"""The dashboard as people see it: Debian's chromium, driven from outside; each page looked at by axe.

`EPISODIC_TEST_SHOTS=folder` keeps a picture of each page, in light, dark and on a phone.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from builders.chats import LISBON, Clock, talk
from builders.dashboard import HOSTILE, NOW, browser, fill, no_browser, served

from episodic_agent import Memory
from episodic_agent.engine.trace.acts import calling
from episodic_agent.schemas import Caller

pytestmark = pytest.mark.skipif(bool(no_browser()), reason=no_browser())
MAYA = "/users/maya"
DESK, PHONE = {"width": 1320, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Memory]:
    path = tmp_path_factory.mktemp("dashboard") / "memory.db"
    memory = Memory.open(path, embedder="hashing", clock=Clock(NOW))
    fill(memory)
    memory.close()
    return lambda: Memory.open(path, embedder="hashing", clock=Clock(NOW))


@pytest.fixture(scope="module")
def url(opened: Callable[[], Memory]) -> Iterator[str]:
    with served(opened, Clock(NOW)) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


@pytest.fixture
def page(chromium: Any, url: str) -> Iterator[Any]:
    context = chromium.new_context(base_url=url, viewport=DESK)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((url, "data:")) else page.faults.append(asked.url),
    )
    yield page
    assert page.faults == []  # no error, nothing refused by the policy, no other host
    context.close()


def longest_episode(page: Any) -> str:
    page.goto(MAYA)
    told = page.evaluate("path => fetch(path).then(answer => answer.json())", f"{MAYA}/timeline.json")
    return str(max(told["episodes"], key=lambda row: row[2])[4])


def every_page(page: Any) -> dict[str, str]:
    episode = longest_episode(page)
    facts = page.evaluate("() => fetch('/v1/users/maya/facts').then(answer => answer.json())")
    return {
        "users": "/", "timeline": MAYA, "episode": f"{MAYA}/episodes/{episode}", "threads": f"{MAYA}/threads",
        "thread": f"{MAYA}/threads/maya-work", "links": f"{MAYA}/links?undone=true",
        "search": f"{MAYA}/search?q={quote('When does the release go out?')}", "ask": f"{MAYA}/search",
        "facts": f"{MAYA}/facts?past=true", "fact": f"{MAYA}/facts/{facts['items'][0]['fact']['id']}",
        "places": f"{MAYA}/places", "strength": f"{MAYA}/strength", "audit": f"{MAYA}/audit", "audit-of": f"{MAYA}/audit?by=mcp", "erase": f"{MAYA}/erase?what=episode&name={episode}", "jobs": "/jobs",
        "usage": "/usage?prompt=0.5&answer=2", "receipts": "/receipts", "login": "/login", "nobody": "/?q=zzz",
    }  # fmt: skip


def settled(page: Any, path: str) -> None:
    page.goto(path)
    if page.locator("[data-timeline]").count():
        page.wait_for_selector("[data-ready]")


def keep(page: Any, name: str) -> None:
    if folder := os.environ.get("EPISODIC_TEST_SHOTS"):
        page.screenshot(path=str(Path(folder) / f"dashboard-{name}.png"))


def violations(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    page.wait_for_timeout(60)  # colours have turned
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:200]}"
        for one in found
    ]


# --- two that every run looks at ----------------------------------------------------------------------------


def test_a_person_finds_an_episode_on_the_timeline_and_reads_why_it_was_cut(page: Any) -> None:
    settled(page, MAYA)
    assert page.locator("[data-count=messages]").inner_text().isdigit()
    page.locator(".list h3 a").first.click()
    page.wait_for_selector("#why")
    assert page.locator(".edge p").count() == 2


@pytest.mark.slow
def test_what_arrives_is_announced_while_the_page_is_open(page: Any, opened: Callable[[], Memory]) -> None:
    settled(page, MAYA)
    page.wait_for_selector(".live.on")
    with opened() as memory:
        memory.user("maya").add("The boxes are packed", thread="moving")
        memory.user("maya").flush(thread="moving")
    page.get_by_text("1 new episode – show").wait_for(timeout=20_000)
    page.get_by_text("1 new episode – show").click()
    page.get_by_text("The boxes are packed").first.wait_for()


@pytest.mark.slow
def test_a_person_reads_who_did_what_and_narrows_it(page: Any, opened: Callable[[], Memory]) -> None:
    with opened() as memory, calling(Caller("mcp")):
        memory.user("maya").threads.rename("home", "The house")
    settled(page, MAYA)
    page.get_by_role("link", name="Who did what").click()
    whole = page.locator("tbody tr").count()
    page.get_by_label("By whom").select_option(label="an agent's tools (MCP)")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("rename a thread").wait_for()
    assert page.locator("tbody tr").count() < whole
    page.get_by_role("link", name="The house").click()
    page.locator("h1", has_text="The house").wait_for()
    page.goto(f"{MAYA}/audit")
    first = page.locator("tbody").inner_text()
    page.get_by_role("link", name="Older").click()
    page.get_by_role("link", name="Newest").wait_for()
    assert page.locator("tbody").inner_text() != first
    page.get_by_label("What").select_option("deletion")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("Nothing matches").wait_for()
    with page.expect_download() as kept:
        page.goto(f"{MAYA}/audit")
        page.get_by_role("link", name="Download").click()
    entries = json.loads(Path(kept.value.path()).read_text("utf-8"))["entries"]
    assert len(entries) > whole
    assert "mcp" in {one["by"]["face"] for one in entries}


@pytest.mark.slow
def test_a_bar_of_the_timeline_has_the_colour_of_its_thread_in_the_lists(page: Any) -> None:
    colours = "all => all.map(one => getComputedStyle(one).backgroundColor)"
    page.goto(f"{MAYA}/threads")
    dots = set(page.locator(".list .dot").evaluate_all(colours))
    settled(page, MAYA)
    page.wait_for_timeout(100)  # a frame was drawn
    assert set(page.locator(".list .dot").evaluate_all(colours)) <= dots
    drawn = page.evaluate("""() => {
        const canvas = document.querySelector("canvas"), seen = new Set();
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        for (let n = 0; n < data.length; n += 4) seen.add(`rgb(${data[n]}, ${data[n + 1]}, ${data[n + 2]})`);
        return [...seen];
    }""")
    every = page.locator("[data-hue]").evaluate_all(colours)
    assert 1 < len(dots) < len(every)
    assert set(every) & set(drawn) == dots


@pytest.mark.slow
def test_who_did_what_is_read_on_a_phone_without_moving_it(chromium: Any, url: str) -> None:
    context = chromium.new_context(base_url=url, viewport=PHONE)
    seen = context.new_page()
    seen.goto(f"{MAYA}/audit")
    places = "all => all.map(one => one.getBoundingClientRect()).map(one => [one.left, one.right])"
    cells = seen.locator("tbody tr").first.locator("td").evaluate_all(places)
    (tab,) = seen.locator("nav [aria-current]").evaluate_all(places)
    labels = (
        seen.locator("tbody tr")
        .first.locator("td")
        .evaluate_all("all => all.map(one => getComputedStyle(one, '::before').content)")
    )
    context.close()
    assert all(0 <= left < right <= PHONE["width"] for left, right in [*cells, tab])
    assert labels == ['"when"', '"what"', '"of what"', '"how many"', '"by whom"']


# --- every page ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme", "size"), [("light", "light", DESK), ("dark", "dark", DESK), ("phone", "light", PHONE)]
)
def test_every_page_is_without_faults_for_axe_and_fits(
    chromium: Any, url: str, page: Any, name: str, scheme: str, size: dict[str, int]
) -> None:
    context = chromium.new_context(base_url=url, viewport=size, color_scheme=scheme)
    seen = context.new_page()
    wrong = []
    for place, path in every_page(page).items():
        settled(seen, path)
        keep(seen, f"{place}-{name}")
        wrong += [f"{place}: {fault}" for fault in violations(seen)]
        wide = seen.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            wrong.append(f"{place}: {wide} px wider than the window")
    context.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_the_theme_is_chosen_by_a_button_and_kept(page: Any) -> None:
    settled(page, MAYA)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    settled(page, f"{MAYA}/facts")
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(ground) == light


@pytest.mark.slow
def test_everything_is_done_with_the_keyboard_alone(page: Any) -> None:
    settled(page, MAYA)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    seen = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "CANVAS":
            break
        seen.add(page.evaluate("document.activeElement.textContent"))
    assert {"Zoom in", "Month", "All"} <= seen
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"  # where the focus is can be seen
    before = page.locator("output").inner_text()
    page.keyboard.press("+")
    assert page.locator("output").inner_text() != before
    page.keyboard.press("ArrowRight")
    picked = page.locator("[data-picked]").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector("#why")
    assert page.locator("h1").inner_text()[:20] == picked[:20]
    page.locator("input[name=title]").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("Named with keys alone")
    page.keyboard.press("Enter")
    page.get_by_text("is called “Named with keys alone” now").wait_for()
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    page.locator("h1", has_not_text="Named").wait_for()  # (a script told to wait would break the policy)


@pytest.mark.slow
def test_the_timeline_goes_from_years_to_one_message(page: Any) -> None:
    settled(page, MAYA)
    canvas = page.locator("canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(24):
        page.keyboard.press("+")
    span = page.locator("output").inner_text()
    assert ":" in span  # hours and minutes
    asked = page.evaluate("performance.getEntriesByType('resource').map(one => one.name).join(' ')")
    for _ in range(20):
        if "messages.json" in asked:
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
        asked = page.evaluate("performance.getEntriesByType('resource').map(one => one.name).join(' ')")
    assert "messages.json" in asked
    page.keyboard.press("Home")
    assert ":" not in page.locator("output").inner_text()


@pytest.mark.slow
def test_the_slider_asks_what_another_threshold_would_make_and_applies_it(page: Any) -> None:
    page.goto(f"{MAYA}/threads/maya-work")
    before = page.locator(".list .item").count()
    slider = page.locator("input[type=range]")
    slider.focus()
    slider.fill("0.9")
    page.get_by_text("instead of").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Segment the thread so").click()
    page.get_by_text("Segmented again").wait_for()
    assert page.locator(".list .item").count() < before
    page.locator(".notice").get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back").wait_for()
    assert page.locator(".list .item").count() == before


@pytest.mark.slow
def test_an_episode_is_cut_and_joined_where_a_person_says(page: Any) -> None:
    page.goto(f"{MAYA}/episodes/{longest_episode(page)}")
    messages = page.locator(".said").count()
    page.get_by_role("button", name="Begin a new episode here").nth(2).click()
    page.get_by_text("A new episode begins with message").wait_for()
    assert page.locator(".said").count() == messages - 3
    assert page.get_by_text("somebody cut it here by hand").count()
    page.get_by_role("button", name="Join with the episode before").click()
    page.get_by_text("The two episodes are one now").wait_for()
    assert page.locator(".said").count() == messages
    for _ in range(2):
        page.goto(f"{MAYA}/threads/maya-family")
        page.get_by_role("button", name="Undo the last correction").click()
        page.get_by_text("Taken back").wait_for()


@pytest.mark.slow
def test_a_question_comes_before_what_cannot_be_taken_back(page: Any) -> None:
    page.goto(f"{MAYA}/facts")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    count = page.locator(".item").count()
    page.get_by_role("button", name="Delete").first.click()
    assert "Delete this fact?" in asked[0]
    page.reload()
    assert page.locator(".item").count() == count


@pytest.mark.slow
def test_hostile_words_do_nothing_and_break_no_page(page: Any, opened: Callable[[], Memory]) -> None:
    with opened() as memory:
        eve = memory.user(HOSTILE[0])
        for words in HOSTILE:
            eve.add({"role": "user", "name": words[:60], "content": f"I live in {words}"}, thread=words[:200])
        eve.flush()
        shown = [str(card.episode_id) for card in eve.episodes.list()]
        eve.episodes.rename(shown[0], HOSTILE[0])
    base = f"/users/{quote(HOSTILE[0], safe='')}"
    paths = ["", "/facts", "/threads", "/strength", "/links", f"/search?q={quote(HOSTILE[3])}"]
    for path in ["/", *(base + one for one in paths), *(f"{base}/episodes/{one}" for one in shown)]:
        settled(page, path)
        assert page.title() != "taken", path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert page.locator("main img").count() == 0, path
    with opened() as memory:
        memory.user(HOSTILE[0]).erase(everything=True)


@pytest.mark.slow
def test_with_a_key_a_person_logs_in_and_out(tmp_path: Path, chromium: Any) -> None:
    def opened() -> Memory:
        return Memory.open(tmp_path / "keyed.db", embedder="hashing", clock=Clock(NOW))

    with opened() as memory:
        memory.user("ana").add(talk(LISBON, 0))
        key = memory.keys.create(role="read").token
    with served(opened, Clock(NOW)) as url:
        page = chromium.new_context(base_url=url).new_page()
        page.goto("/users/ana")
        assert "/login?back=/users/ana" in page.url
        page.get_by_label("Key").fill("ek_nothing")
        page.keyboard.press("Enter")
        page.get_by_text("this key is not known here").wait_for()
        page.get_by_label("Key").fill(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-timeline]")
        assert page.get_by_role("button", name="Remember").count() == 0
        page.wait_for_selector(".live.on")
        page.get_by_role("button", name="Log out (read)").click()
        page.wait_for_url("**/login")
        page.context.close()
