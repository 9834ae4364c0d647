"""The dashboard without a browser: what each form does, what is refused, keys and roles, hostile words."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from builders.chats import TAP, Clock, diary, talk
from builders.dashboard import HOSTILE
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.core.prompts import STAGES
from episodic_agent.engine.jobs import kinds
from episodic_agent.faces.dashboard.actions import ACTIONS, JOB_ACTIONS
from episodic_agent.faces.dashboard.forms import TOKEN
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.verbs import OF_USER
from episodic_agent.faces.wording import act_words, leg_words, reason, sentence, work_words
from episodic_agent.schemas import AuditEntry, AuditKind, Caller
from episodic_agent.schemas.keys import Role

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
KINDS = [value for name, value in vars(kinds).items() if name.isupper() and isinstance(value, str)]
ANA = "/users/ana"
HERE = "http://127.0.0.1:8765"


def opener(path: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The memory every test begins with: it is told once, and each gets a copy."""
    path = tmp_path_factory.mktemp("told") / "memory.db"
    with opener(path)() as memory:
        ana = memory.user("ana")
        ana.add(diary())
        ana.add(talk(TAP, 9), thread="again")
        ana.add("I live in Lisbon and I never eat nuts", thread="self")
        ana.flush()
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[], Memory]:
    return opener(tmp_path / "memory.db")


@pytest.fixture(scope="module")
def refusing(told: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all forms that are refused: they change nothing."""
    path = Path(shutil.copy(told, tmp_path_factory.mktemp("refusing")))
    with LocalClient(make_app(opener(path), Clock(NOW)), follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(told: Path, tmp_path: Path, opened: Callable[[], Memory]) -> Iterator[TestClient]:
    shutil.copy(told, tmp_path)
    with LocalClient(make_app(opened, Clock(NOW)), follow_redirects=False) as client:
        yield client


def token(client: TestClient, page: str = "/") -> str:
    return re.findall(r'name="token" value="([0-9a-f]+)"', client.get(page).text)[0]


def post(client: TestClient, action: str, page: str = ANA, **fields: Any) -> str:
    """Send a form as the page's own button does; return what the next page says was done."""
    answer = client.post(
        f"{ANA}/do/{action}",
        data={TOKEN: token(client, page), "back": page, **fields},
        headers={"Origin": HERE},
    )
    assert answer.status_code == 303, answer.text
    return notice(client.get(answer.headers["location"]).text)


def notice(page: str) -> str:
    words = re.search(r'class="notice[^"]*" role="status"><p>(.*?)</p>', page, re.DOTALL)
    return unescape(words[1]) if words else ""


def episodes(client: TestClient, thread: str = "chat") -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = client.get(f"/v1{ANA}/episodes", params={"thread": thread}).json()["items"]
    return listed[::-1]


# --- pages --------------------------------------------------------------------------------------------------


def test_every_page_is_whole_and_lets_nothing_in_from_elsewhere(client: TestClient) -> None:
    episode = episodes(client)[0]["episode_id"]
    fact = client.get(f"/v1{ANA}/facts").json()["items"][0]["fact"]["id"]
    rooms = (
        "",
        "/threads",
        "/threads/chat",
        "/links",
        "/search",
        "/search?q=kitchen+tap",
        "/facts",
        "/places",
        "/strength",
    )
    mine = (f"/episodes/{episode}", f"/facts/{fact}", f"/erase?what=episode&name={episode}")
    for path in (
        "/",
        f"{ANA}/audit",
        "/jobs",
        "/usage",
        "/receipts",
        *(ANA + room for room in (*rooms, *mine)),
    ):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert answer.text.rstrip().endswith("</html>"), path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(
            r'<script(?! src="/assets/)|\son\w+="|\sstyle="|(?:src|href)="(?:https?:)?//', answer.text
        )


def test_who_did_what_is_told_in_words_and_leads_to_what_is_still_there(client: TestClient) -> None:
    thread = client.get(f"/v1{ANA}/threads/again").json()["thread"]["id"]
    client.patch(f"/v1{ANA}/threads/again", json={"title": "The tap"})
    page = unescape(client.get(f"{ANA}/audit").text)
    assert "rename a thread" in page
    assert "threads.rename" not in page
    assert f'href="{ANA}/threads/{thread}"><bdi>The tap</bdi>' in page
    client.delete(f"/v1{ANA}/threads/again")
    page = unescape(client.get(f"{ANA}/audit").text)
    assert "erase for good" in page
    assert "there no more" in page
    assert f'href="{ANA}/threads/{thread}"' not in page
    only = unescape(client.get(f"{ANA}/audit?kind=deletion&by=http").text)
    assert "erase for good" in only
    assert "rename a thread" not in only
    assert "Nothing matches" in client.get(f"{ANA}/audit?until=2001-01-01").text
    assert client.get(f"{ANA}/audit?since=2024-06-01&until=2024-06-01").text.count("<tr>") > 1  # that day too
    kept = client.get(f"{ANA}/audit.json?by=http&kind=deletion")
    assert "attachment" in kept.headers["content-disposition"]
    assert [one["verb"] for one in kept.json()["entries"]] == ["erase"]
    assert client.get(f"{ANA}/audit?since=nonsense").status_code == 400
    assert client.get(f"{ANA}/audit?until=9999-12-31").status_code == 400  # no time a memory takes
    assert client.get("/users/nobody/audit").status_code == 404
    client.delete(f"/v1{ANA}")
    assert "erase for good" in unescape(client.get(f"{ANA}/audit").text), "receipts are left"


def test_every_call_and_all_later_work_has_words_of_its_own() -> None:
    writing = {row.verb for row in OF_USER if row.role is not Role.READ and row.method != "GET"}
    for verb in writing:
        entry = AuditEntry(NOW, "1", AuditKind.WRITE, verb, Caller("http"))
        assert act_words(entry) != verb, verb
    for kind in KINDS:
        assert work_words(kind) != kind, kind
    for stage in STAGES:
        asked = act_words(AuditEntry(NOW, "1", AuditKind.MODEL, stage, Caller("work"), note="small"))
        assert asked.startswith("ask small ")
        assert not asked.endswith(stage) or stage in ("skills", "facts")


def test_an_episode_says_why_it_was_cut_and_what_else_would_do(client: TestClient) -> None:
    first, second = episodes(client)[:2]
    page = client.get(f"{ANA}/episodes/{second['episode_id']}").text
    why = client.get(f"/v1{ANA}/episodes/{second['episode_id']}/explanation").json()
    for edge in (why["begins"], why["ends"]):
        assert not edge["reason"] or sentence(edge["sentence"], edge["reason"]) in unescape(page)
        assert not edge["decision"] or f"<b>{reason(edge['reason'])}</b>" in page
        assert f"<b>{edge['reason']}</b>" not in page, "people read words, not stored names"
    assert first["title"] in unescape(page)
    answer = client.get(f"{ANA}/threads/chat/whatif.json", params={"threshold": 0.05}).json()
    would = client.get(f"/v1{ANA}/threads/chat/whatif", params={"policy": "default?threshold=0.05"}).json()
    assert (answer["stored"], answer["added"]) == (len(would["stored"]), would["added"])
    assert "between 0.01" in client.get(f"{ANA}/threads/chat/whatif.json?threshold=7").json()["problem"]


def test_a_thread_that_is_called_by_its_episode_is_not_named_behind_it(client: TestClient) -> None:
    listed = unescape(client.get(ANA).text)
    title = client.get(f"/v1{ANA}/threads/self").json()["thread"]["title"]
    assert f">{title}</bdi></a>" in listed
    assert f"in <bdi>{title}</bdi>" not in listed
    post(client, "rename-thread", thread="self", title="About me")
    assert "in <bdi>About me</bdi>" in client.get(ANA).text


def test_a_title_in_the_map_of_links_ends_where_the_map_does(client: TestClient) -> None:
    title = "The tap that drips in the kitchen since the week before Easter, and its plumber"
    for thread in ("chat", "again"):
        post(client, "rename-thread", thread=thread, title=title)
    post(client, "link", thread="again", other="chat")
    drawn = re.findall(
        r'<text x="([\d.]+)" y="[\d.]+">([^<]*)</text><text class="label2"', client.get(f"{ANA}/links").text
    )
    earliest, *_, latest = sorted((float(x), len(unescape(text))) for x, text in drawn)
    assert earliest[1] > 60
    assert 20 < latest[1] < earliest[1]


def test_a_search_shows_each_leg_and_the_context_a_prompt_would_get(client: TestClient) -> None:
    question = "what does the plumber say about the tap?"
    page = unescape(client.get(f"{ANA}/search", params={"q": question}).text)
    answer = client.post(f"/v1{ANA}/search", json={"query": question, "explain": True}).json()
    context = client.post(f"/v1{ANA}/context", json={"message": question}).json()
    assert answer["hits"]
    assert all(f"<span>{leg_words(leg)}</span>" in page for leg in answer["hits"][0]["legs"])
    assert context["text"] in page


def test_a_thread_has_one_colour_wherever_it_is_drawn_and_of_a_dozen_none_shares_one(
    client: TestClient, opened: Callable[[], Memory]
) -> None:
    with opened() as memory:
        for n in range(12 - len(memory.user("ana").threads.list())):
            memory.user("ana").add(f"The tap of flat {n} drips", thread=f"flat {n}")
    told = client.get(f"{ANA}/timeline.json").json()
    hues = {origin: hue for _, origin, hue in told["threads"]}
    assert sorted(hues.values()) == list(range(12))
    assert client.get(f"{ANA}/timeline.json?newest=2").json()["threads"][0][2] in hues.values()
    with opened() as memory:
        drawn = {str(c.episode_id): hues[c.origin] for c in memory.user("ana").episodes.recent(limit=99)}
        named = {str(t.id): hues[t.origin] for t in memory.user("ana").threads.list()}
    for page in ("", "/search?q=Which+tap+drips", "/strength", "/threads"):
        text = client.get(ANA + page).text
        dots = re.findall(
            rf'class="dot h(\d+)".{{0,90}}?{ANA}/(?:episodes|threads)/([^"#?]+)', text, re.DOTALL
        )
        assert dots
        assert {int(hue) for hue, _ in dots} == {(drawn | named | hues)[unquote(one)] for _, one in dots}, (
            page
        )


def test_who_speaks_has_one_name_and_threads_are_chosen_by_their_titles(
    client: TestClient, opened: Callable[[], Memory]
) -> None:
    with opened() as memory:
        ana = memory.user("ana")
        ana.add("My sister Hannah is a nurse.", thread="family", timestamp=NOW)
        ana.flush()
        ana.threads.rename("family", "Hannah at work")
        card = ana.episodes.list(thread="family")[0]
        fact = next(one for one in ana.facts.list() if "Hannah" in one.fact.fact)
    pages = [
        unescape(client.get(ANA + path).text)
        for path in (
            "/facts",
            f"/facts/{fact.id}",
            "/search?q=Is+Hannah+a+nurse",
            "/audit",
            f"/episodes/{card.episode_id}",
        )
    ]
    for page in pages[:4]:
        assert 'ana: "My sister Hannah is a nurse."' in page
        assert "<bdi>The user:" not in page
    assert "<b><bdi>ana</bdi></b>" in pages[4]
    form = unescape(client.get(f"{ANA}/links").text)
    assert '<option value="family">Hannah at work (family)</option>' in form
    assert form.count(" selected>") == 1, "the two to link are not the same at first"
    with opened() as memory:
        ana = memory.user("ana")
        ana.add("Hannah has a night shift tomorrow.", thread="later", timestamp=NOW)
        ana.links.add("later", "family")
    linked = unescape(client.get(f"{ANA}/links").text)
    assert ">Hannah has a night shift tomorrow</bdi>" in linked, (
        "a thread without a title has its first words"
    )
    assert ">later</bdi>" not in linked


def test_places_tell_their_visits_and_skills_their_steps(opened: Callable[[], Memory]) -> None:
    steps = ("open the tin", "fill the bowl")
    with opened() as memory:
        robot = memory.user("pim/2", new=True)
        for day in range(16):
            at = NOW - timedelta(days=20 - day)
            for n, action in enumerate(steps):
                step = {
                    "action": action,
                    "location": "kitchen",
                    "outcome": True,
                    "timestamp": at + timedelta(minutes=n),
                }
                robot.add(step, thread=f"log {day}")
            robot.add(
                {"action": "dock", "location": "hall & stairs", "timestamp": at + timedelta(hours=3)},
                thread=f"log {day}",
            )
        robot.flush()
    base = "/users/pim%2F2"
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        page = client.get(f"{base}/places").text
        assert '>kitchen</bdi></a></td><td class="n">32</td><td class="n">16</td>' in page
        assert "16 times" in page
        assert unescape(page).count("open the tin") == 1
        link = unescape(re.findall(r'href="([^"]+place=hall[^"]+)"', page)[0])
        visits = client.get(link).text
        assert visits.count(f"{base}/episodes/") == 16
        assert "no place" in client.get(f"{base}/places?place=attic").text
        named = client.get(f"{base}/threads/log%2015")  # an address somebody wrote by hand
        assert (named.status_code, "log 15" in named.text) == (200, True)


def test_what_is_not_there_is_said_in_words_on_a_page(client: TestClient) -> None:
    for path in ("/users/nobody", f"{ANA}/episodes/x", f"{ANA}/threads/none", f"{ANA}/facts/x"):
        answer = client.get(path)
        assert (answer.status_code, "<h1>Not Found</h1>" in answer.text) == (404, True), path
        assert "episodic episodes" not in answer.text, "who reads a page sits at no terminal"
        back = "Back to <bdi>ana</bdi>" if path.startswith(ANA) else "All memories"
        assert back in answer.text, path


# --- corrections ------------------------------------------------------------------------------------------------


def test_episodes_are_cut_joined_and_renamed_and_each_is_taken_back(client: TestClient) -> None:
    def spans() -> list[int]:
        return [one["observations"] for one in episodes(client)]

    assert spans() == [4, 4, 4, 4]
    assert "begins with message 6" in post(client, "cut", thread="chat", seq="6")
    assert spans() == [4, 2, 2, 4, 4]
    assert "are one now" in post(client, "join", thread="chat", seq="4")
    assert spans() == [6, 2, 4, 4]
    post(client, "undo", thread="chat")
    assert "Taken back" in post(client, "undo", thread="chat")
    assert spans() == [4, 4, 4, 4]
    episode = episodes(client)[1]
    post(client, "rename-episode", episode=episode["episode_id"], title="The Lisbon trip")
    assert episodes(client)[1]["title"] == "The Lisbon trip"
    post(client, "rename-episode", episode=episode["episode_id"], title=episode["title"])
    assert "begins with message 4 already" in post(client, "cut", thread="chat", seq="4")
    assert "is a number" in post(client, "cut", thread="chat", seq="four")


def test_a_notice_offers_the_undo_of_what_was_done(client: TestClient) -> None:
    sent = {TOKEN: token(client, ANA), "back": ANA, "thread": "chat", "seq": "6"}
    answer = client.post(f"{ANA}/do/cut", data=sent, headers={"Origin": HERE})
    page = client.get(answer.headers["location"]).text
    assert re.search(rf'action="{ANA}/do/undo".*?name="thread" value="chat".*?Undo', page, re.DOTALL)
    assert notice(client.get(ANA).text) == ""  # said once


def test_threads_are_renamed_linked_and_unlinked(client: TestClient) -> None:
    post(client, "rename-thread", thread="chat", title="Spring")
    assert client.get(f"/v1{ANA}/threads/chat").json()["thread"]["title"] == "Spring"
    post(client, "link", thread="again", other="chat")
    assert "goes on with" in client.get(f"{ANA}/links").text
    assert "stay apart" in post(client, "unlink", thread="again", other="chat")
    assert client.get(f"/v1{ANA}/links").json()["items"] == []
    assert "taken back" in client.get(f"{ANA}/links?undone=true").text


def test_a_fact_that_was_replaced_says_when_and_leads_to_what_replaced_it(
    opened: Callable[[], Memory],
) -> None:
    days = [NOW - timedelta(days=20), NOW - timedelta(days=10)]
    rents = ("Our rent is 700 euros a month.", "Our rent is 720 euros a month now.")
    with opened() as memory:
        ana = memory.user("ana")
        for day, text in zip(days, rents, strict=True):
            ana.add(text, role="Maya", thread=f"{day}", timestamp=day)
            ana.flush()
        old, new = ana.facts.history(ana.facts.list("rent")[0].id)
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        listed = client.get(f"{ANA}/facts?past=true").text
        page = client.get(f"{ANA}/facts/{old.id}").text
    assert f'<a href="{ANA}/facts/{new.id}">replaced 22 May 2024</a>' in listed
    assert f'<a href="{ANA}/facts/{new.id}">replaced by another</a>' in page
    assert "<span>said 12 May 2024</span>" in page


def test_facts_are_confirmed_edited_pinned_and_deleted(client: TestClient) -> None:
    fact = next(
        f["fact"] for f in client.get(f"/v1{ANA}/facts").json()["items"] if "Lisbon" in f["fact"]["fact"]
    )
    post(client, "confirm-fact", fact=fact["id"])
    post(client, "pin-fact", fact=fact["id"], pinned="yes")
    post(client, "edit-fact", fact=fact["id"], text="Ana lives in Lisbon", category="identity")
    told = client.get(f"/v1{ANA}/facts/{fact['id']}").json()["fact"]
    assert (told["fact"], told["edited"], told["pinned"], told["confirmed"]) == (
        "Ana lives in Lisbon",
        True,
        True,
        True,
    )
    assert "Deleted" in post(client, "delete-fact", fact=fact["id"])
    assert client.get(f"/v1{ANA}/facts/{fact['id']}").status_code == 404


def test_episodes_are_pinned_suppressed_and_shown_again(client: TestClient) -> None:
    episode = episodes(client)[0]["episode_id"]
    post(client, "pin", episode=episode)
    assert episodes(client)[0]["pinned"]
    post(client, "unpin", episode=episode)
    post(client, "suppress", episode=episode, reason="private")
    assert "private" in client.get(f"{ANA}/strength").text
    assert "Show again" in client.get(f"{ANA}/episodes/{episode}").text
    assert post(client, "unsuppress", episode=episode) == "It is shown again."
    assert "2 messages hold it now." in post(client, "suppress", words="hairline crack")
    question = {"q": "the crack in the cartridge of the tap"}
    assert "a hairline crack in the cartridge" not in client.get(f"{ANA}/search", params=question).text
    post(client, "unsuppress", words="hairline crack")


def test_erasing_counts_first_and_leaves_a_receipt(client: TestClient) -> None:
    episode = episodes(client)[0]["episode_id"]
    page = client.get(f"{ANA}/erase?what=episode&name={episode}").text
    assert re.search(r"<td>observations</td><td class=\"n\">4</td>", page)
    assert len(episodes(client)) == 4
    assert "Erased: 4 observations" in post(client, "erase", what="episode", name=episode)
    assert "kitchen tap" not in client.get(f"/v1{ANA}/export").text.split("again")[0]
    assert "episode" in client.get("/receipts").text
    assert client.get(f"{ANA}/erase?what=planet&name=x").status_code == 400
    post(client, "erase", what="everything")
    assert "Nothing is remembered yet" in client.get("/").text


def test_a_message_is_added_and_frames_are_closed(client: TestClient) -> None:
    assert post(client, "add", text="The new tap is in", thread="chat") == "Remembered."
    assert episodes(client)[-1]["state"] == "open"
    assert "closed" in post(client, "flush")


# --- where a form comes from -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"Origin": "http://127.0.0.1:9999"}, "right"),
        ({"Origin": "null"}, "right"),
        ({}, "right"),
        ({"Sec-Fetch-Site": "cross-site"}, "right"),
        ({"Origin": HERE}, "0" * 64),
        ({"Origin": HERE}, ""),
    ],
)
def test_a_form_of_another_site_or_without_its_token_changes_nothing(
    refusing: TestClient, headers: dict[str, str], field: str
) -> None:
    own = token(refusing, ANA)
    sent = {TOKEN: own if field == "right" else field, "text": "planted", "back": ANA}
    assert refusing.post(f"{ANA}/do/add", data=sent, headers=headers).status_code == 403
    assert "planted" not in refusing.get(f"/v1{ANA}/export").text


def test_a_token_of_another_visitor_opens_nothing(client: TestClient) -> None:
    sent = {TOKEN: token(client, ANA), "text": "planted"}
    client.cookies.clear()
    client.get("/")
    assert client.post(f"{ANA}/do/add", data=sent, headers={"Origin": HERE}).status_code == 403


def test_no_form_leads_to_another_site_and_another_host_is_refused(client: TestClient) -> None:
    sent = {TOKEN: token(client, ANA), "text": "tea", "back": "//evil.example/"}
    answer = client.post(f"{ANA}/do/pin", data=sent, headers={"Origin": HERE})
    assert answer.headers["location"] == "/"
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421


def test_an_action_that_is_none_is_refused(client: TestClient) -> None:
    sent, own = {TOKEN: token(client, ANA)}, {"Origin": HERE}
    assert client.post(f"{ANA}/do/conquer", data=sent, headers=own).status_code == 404
    assert client.post("/jobs/do/conquer", data=sent, headers=own).status_code == 404
    assert client.get(f"{ANA}/do/flush").status_code == 405


# --- keys -------------------------------------------------------------------------------------------------------


@pytest.fixture
def keys(opened: Callable[[], Memory], client: TestClient) -> dict[str, str]:
    with opened() as memory:
        made = {role.value: memory.keys.create(role=role).token for role in Role}
        return {**made, "other": memory.keys.create(role="admin", space="other").token}


@pytest.fixture
def outside(opened: Callable[[], Memory], keys: dict[str, str]) -> Iterator[TestClient]:
    base = "https://memory.example"
    with TestClient(make_app(opened, Clock(NOW)), base_url=base, follow_redirects=False) as client:
        yield client


def log_in(client: TestClient, key: str) -> Any:
    sent = {TOKEN: token(client, "/login"), "key": key, "back": ANA}
    return client.post("/login", data=sent, headers={"Origin": "https://memory.example"})


def test_without_a_session_a_page_asks_for_a_key_and_comes_back(outside: TestClient) -> None:
    answer = outside.get(f"{ANA}/facts")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?back=/users/ana/facts")
    assert outside.get("/assets/dashboard.css").status_code == 200
    assert outside.get(f"/v1{ANA}/facts").status_code == 401


def test_a_key_that_is_none_is_refused_in_words(outside: TestClient) -> None:
    for key in ("ek_000_nothing", "ékey", "x y"):
        answer = log_in(outside, key)
        assert (answer.status_code, "not known here" in answer.text) == (403, True)


def test_a_session_is_a_cookie_no_script_reads_and_opens_pages_only(
    outside: TestClient, keys: dict[str, str]
) -> None:
    answer = log_in(outside, keys["read"])
    assert answer.headers["location"] == ANA
    (cookie,) = (c for c in answer.headers.get_list("set-cookie") if c.startswith("episodic_key"))
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Secure"))
    assert outside.get(ANA).status_code == 200
    assert outside.get(f"/v1{ANA}/facts").status_code == 401  # the cookie is no key of the API
    left = {TOKEN: token(outside, ANA)}
    outside.post("/logout", data=left, headers={"Origin": "https://memory.example"})
    assert outside.get(ANA).status_code == 303


@pytest.mark.slow
def test_a_role_shows_and_allows_no_more_than_its_verbs(outside: TestClient, keys: dict[str, str]) -> None:
    def tried(action: str, **fields: str) -> str:
        sent = {TOKEN: token(outside, ANA), "back": ANA, **fields}
        answer = outside.post(f"{ANA}/do/{action}", data=sent, headers={"Origin": "https://memory.example"})
        return notice(outside.get(answer.headers["location"]).text)

    assert len(ACTIONS) > 20
    log_in(outside, keys["read"])
    page = outside.get(f"{ANA}/threads/chat").text
    assert "/do/" not in page
    for action in ACTIONS:
        assert "this takes a key of role" in tried(action, thread="chat"), action
    log_in(outside, keys["write"])
    assert "/do/rename-thread" in outside.get(f"{ANA}/threads/chat").text
    assert "erase?" not in outside.get(f"{ANA}/threads/chat").text
    assert "role admin" in tried("erase", what="everything")
    assert outside.get(f"{ANA}/erase?what=everything").status_code == 403
    assert "Who did what" not in outside.get(ANA).text
    refused = outside.get(f"{ANA}/audit")
    assert (refused.status_code, "a key of role admin" in refused.text) == (403, True)
    assert outside.get(f"{ANA}/audit.json").status_code == 403
    for action in JOB_ACTIONS:
        sent = {TOKEN: token(outside, ANA)}
        outside.post(f"/jobs/do/{action}", data=sent, headers={"Origin": "https://memory.example"})
        assert "role admin" in notice(outside.get("/jobs").text)
    assert tried("add", text="tea") == "Remembered."
    log_in(outside, keys["admin"])
    assert "Erased" in tried("erase", what="thread", name="again")


def test_a_session_sees_its_own_space_and_ends_when_its_key_is_revoked(
    outside: TestClient, keys: dict[str, str], opened: Callable[[], Memory]
) -> None:
    log_in(outside, keys["other"])
    assert "Nothing is remembered yet" in outside.get("/").text
    assert outside.get(ANA).status_code == 404
    with opened() as memory:
        memory.keys.revoke(keys["other"].split("_")[1])
    time.sleep(0.6)
    assert outside.get("/").status_code == 303


# --- words that were written to harm -----------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_words_in_every_field_are_text(opened: Callable[[], Memory]) -> None:
    bad = HOSTILE[0]
    with opened() as memory:
        eve = memory.user(bad)
        for n, words in enumerate(HOSTILE):
            at = (NOW - timedelta(days=30 - n)).isoformat()
            eve.add(
                {"role": bad, "name": bad, "content": f"I live in {words}", "timestamp": at},
                thread=words[:200],
            )
        eve.flush()
        for card in eve.episodes.list():
            eve.episodes.rename(card.episode_id, bad)
            eve.episodes.pin(card.episode_id, reason=bad)
        eve.threads.rename(HOSTILE[1], bad)
        eve.links.add(HOSTILE[0][:200], HOSTILE[1])
        shown = [str(card.episode_id) for card in eve.episodes.list()]
    base = f"/users/{quote(bad, safe='')}"
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        threads = [f"/threads/{quote(words[:200], safe='')}" for words in HOSTILE]
        rooms = ["", "/threads", "/links", "/facts?past=true", "/strength", *threads]
        for path in ["/", *(base + room for room in rooms), *(f"{base}/episodes/{one}" for one in shown),
                     f"{base}/search?q={quote(HOSTILE[0])}", f"/?q={quote(HOSTILE[3])}", f"/usage?user={quote(bad)}"]:  # fmt: skip
            page = client.get(path)
            assert page.status_code in (200, 404), path
            assert "<script>document" not in page.text, path
            assert "<img src=x" not in page.text, path
            assert "<svg onload" not in page.text, path
            assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x07]", page.text), path
