"""Whatever the code and the pages refer to is there: pages, invariants, chapters of the founding documents, tests."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTERNALS = ROOT / "docs" / "internals"
FOLDERS = {
    "src": ("*.py", "*.sql"),
    "tests": ("*.py",),
    "benchmarks": ("*.py",),
    "tools": ("*.py",),
    "docs": ("*.md",),
}
MADE = {
    "page.md",
    "year.md",
    "chat.md",
    "Tom/chat.md",
}  # pages that programs write, for their users or for a test
MOVED = {"docs/tracing.md": "docs/internals/tracing.md"}  # named by migrations, which are never edited
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "Makefile"]
TEXTS += sorted(
    path
    for folder, kinds in FOLDERS.items()
    for kind in kinds
    for path in (ROOT / folder).rglob(kind)
    if path != Path(__file__)  # whose patterns look like what they look for
)

PAGE = re.compile(r"(?<![\w*\"])([\w./-]*\w\.md)\b(?:#([\w-]+))?")  # one in quotes is part of a path
INVARIANT = re.compile(r"(?<![\w/+=-])I(1?\d)(?![\w/+=])")
SEED = re.compile(
    r"\b[Ss]eed[ -](\d{3})\b(?:'s)?(?:,? \"([A-Z][^\"]+)\"|(?:,| [a-z ]{,20}\()? ?sections? (\d(?:\.\d)?))?"
)
LOOSE = re.compile(r"\(A\d\)|\b[AB]\d-[AB]\d\b|\bsections? \d")
TEST = re.compile(r"`(test_\w+)`")


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    """Return what a page's headings are linked by, as a forge makes it of their words."""
    return {re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-") for words in headings(page)}


@cache
def chapters() -> dict[str, list[str]]:
    """Return the headings under each founding document, by its number."""
    texts: dict[str, list[str]] = {}
    for heading in headings(INTERNALS / "seeds.md"):
        if match := re.fullmatch(r"Seed (\d{3})", heading):
            texts[match[1]] = []
        elif texts:
            texts[list(texts)[-1]].append(heading)
    return texts


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def page_of(path: Path, name: str) -> Path | None:
    """Return the page a text names: from the root where it is code, else from its own folder, too."""
    places = [ROOT / name] + ([path.parent / name] if path.suffix == ".md" else [])
    return next((place for place in places if place.is_file()), None)


def test_every_page_that_is_named_is_there() -> None:
    lost = []
    for path in TEXTS:
        for name, heading in PAGE.findall(text_of(path)):
            page = page_of(path, MOVED.get(name, name) if path.suffix == ".sql" else name)
            if name not in MADE and (page is None or (heading and heading not in anchors(page))):
                lost.append(f"{named(path)}: {name} {heading}")
    assert lost == []


def test_every_invariant_that_is_named_is_defined() -> None:
    known = {heading.partition(":")[0] for heading in headings(INTERNALS / "invariants.md")}
    lost = [
        f"{named(path)}: I{number}"
        for path in TEXTS
        for number in INVARIANT.findall(text_of(path))
        if f"I{number}" not in known
    ]
    assert lost == []
    assert {f"I{n}" for n in range(1, 13)} <= known


def test_every_founding_document_and_its_sections_are_told() -> None:
    lost = []
    for path in TEXTS:
        for number, title, section in SEED.findall(text_of(path)):
            answers = [*chapters().get(number, ()), *([""] if number in chapters() else [])]
            if not any(one == title or one.startswith((f"{section} ", f"{section}.")) for one in answers):
                lost.append(f"{named(path)}: seed {number}, {title or section}")
    assert lost == []
    assert sorted(chapters()) == ["000", "001", "002", "003", "004"]


def test_no_section_is_named_without_its_document() -> None:
    loose = []
    for path in TEXTS:
        if path.suffix == ".sql":  # migrations are never edited
            continue
        text = SEED.sub("", re.sub(r"\s+", " ", text_of(path)))
        loose += [
            f"{named(path)}: …{text[max(0, m.start() - 40) : m.end() + 10]}" for m in LOOSE.finditer(text)
        ]
    assert loose == []


def test_every_test_that_a_page_names_is_there() -> None:
    there = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"def (test_\w+)", text_of(path))
    }
    pages = [path for path in TEXTS if path.suffix == ".md"]
    lost = [f"{named(p)}: {name}" for p in pages for name in TEST.findall(text_of(p)) if name not in there]
    assert lost == []
