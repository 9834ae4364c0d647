"""What mkdocs asks for while it builds the site: the reference of commands; pages still to come."""

import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / ".venv" / "bin" / "python"  # the site's own environment has nothing of the package
FENCE = re.compile(r"^( *```\w+) .*$", re.MULTILINE)
MARK = re.compile(r"<!-- commands:.*?-->")


def on_config(config: Any) -> Any:
    """Leave out of the navigation the pages that are not there yet; the docs test knows them by name."""
    config.nav = [_present(entry, Path(config.docs_dir)) for entry in config.nav]
    return config


def _present(entry: Any, folder: Path) -> Any:
    """Return a section of the navigation without pages that are not there."""
    if not isinstance(entry, dict):
        return entry
    ((title, held),) = entry.items()
    if isinstance(held, str):
        return entry
    return {title: [page for page in held if (folder / next(iter(page.values()))).is_file()]}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write the commands into the page that asks for them; marks for tests go from the fences."""
    markdown = FENCE.sub(r"\1", markdown)
    if page.file.src_uri != "cli.md":
        return markdown
    if not MARK.search(markdown):
        raise ValueError("the page of commands has lost the mark that says where they stand")
    made = subprocess.run(
        [PYTHON, ROOT / "tools" / "command_reference.py"], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise ValueError(f"the commands could not be written: {made.stderr}")
    return MARK.sub(lambda _: made.stdout, markdown)


def on_post_build(config: Any) -> None:
    """Refuse a site that would load something from elsewhere."""
    loaded = r'<(?:script|img|iframe)[^>]* src="(?:https?:)?//'
    styles = r'<link rel="(?:stylesheet|preconnect)"[^>]* href="(?:https?:)?//'
    foreign = re.compile(f"{loaded}|{styles}")
    found = [
        page.name for page in Path(config.site_dir).rglob("*.html") if foreign.search(page.read_text("utf-8"))
    ]
    if found:
        raise ValueError(f"these pages would load something from elsewhere: {', '.join(found)}")
