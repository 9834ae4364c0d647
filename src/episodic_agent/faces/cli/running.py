"""Commands that run an agent: run, profiles, sensors."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

import click
from click.core import ParameterSource

from episodic_agent.core.boundary.steps import record_line
from episodic_agent.core.interfaces import Sensor
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.running import FAILED, INTERRUPTED, RunReport, Seen, interval_of
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.faces.cli.app import App, common, out, plain, print_json, say
from episodic_agent.faces.markdown import episode_markdown, slug
from episodic_agent.faces.plot import map_svg, plot_svg
from episodic_agent.profiles import ProfileConfig, known_policy
from episodic_agent.wiring import resolve_policy
from episodic_agent.wiring_agents import SENSORS, all_profiles, find_profile, make_sensor, recorded

LEFT_BY_SIGNAL = 130
FPS = 10.0  # how far apart readings without a time are placed unless told


@click.command()
@click.option("--profile", "profile_name", default="minigrid", show_default=True, help="See `profiles`.")
@click.option("--freeze-interval", type=click.IntRange(min=1), help="Steps: stub's period or time_interval.")
@click.option("--sensor", "sensor_name", metavar="NAME", help="See `sensors` (default: the profile's).")
@click.option("--policy", "own", metavar="NAME", help="Another policy or detector, or module:Class.")
@click.option("--steps", type=click.IntRange(min=1), help="End after so many steps.")
@click.option("--fps", type=float, metavar="F",
              help="At most F steps a second (default: all it can, placed as 10 a second).")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of a simulated world.")
@click.option("--thread", help="The thread to fill (default: one of its own).")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), help="Write episodes, plot and map."
)
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Keep the readings.")
@click.option("--verbose", is_flag=True, help="Also the boundary score of every step.")
@click.option("--quiet", is_flag=True, help="Only the result.")
@common
@click.pass_context
def run(
    context: click.Context,
    app: App,
    profile_name: str,
    freeze_interval: int | None,
    sensor_name: str | None,
    own: str | None,
    steps: int | None,
    fps: float | None,
    seed: int,
    thread: str | None,
    output: Path | None,
    record: Path | None,
    verbose: bool,
    quiet: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Run an agent: a sensor's readings become steps, and steps episodes.

    Leaves with 0 at the end, 2 when the sensor fails, 130 when interrupted; what came is kept every time.
    """
    if verbose and quiet:
        raise InvalidInput("--verbose and --quiet exclude each other")
    if Path.cwd().as_posix() not in sys.path:
        sys.path.insert(0, Path.cwd().as_posix())  # a detector of one's own lies where one works
    profile = find_profile(profile_name)
    given = context.get_parameter_source("sensor_name") is ParameterSource.COMMANDLINE
    if not profile.sensor and not given:
        raise InvalidInput(f"profile {profile.name} is for messages; `episodic import FILE` takes them in")
    policy = _policy(profile, own or app.policy, freeze_interval)
    resolve_policy(policy)  # refused before anything is connected or opened
    if fps is not None:
        interval_of(fps)
    if output is not None:
        _make_folder(output)  # nobody wants to learn at the end of a long run that there is no place for it
    sensor = _sensor(sensor_name or profile.sensor, seed, record, fps)
    watch = None if quiet or as_json else _watcher(verbose=verbose)
    with app.memory(create=True) as memory:
        report = memory.run(
            sensor, user_id=user, thread=thread, steps=steps, fps=fps or FPS, policy=policy, watch=watch
        )
        if output is not None and report.steps:
            _write(memory, report.thread, user, output)
    if as_json:
        print_json(report)
    else:
        _tell(report)
    if report.ended == INTERRUPTED:
        sys.exit(LEFT_BY_SIGNAL)
    if report.ended == FAILED:
        say(f"error: {report.error}")
        sys.exit(SensorError.exit_code)


def _policy(profile: ProfileConfig, own: str | None, interval: int | None) -> str:
    """Return the name of the policy to run: the one asked for or the profile's, with its numbers."""
    return profile.policy(interval) if own is None else profile.named(known_policy(own), interval)


def _sensor(name: str, seed: int, record: Path | None, fps: float | None) -> Sensor:
    sensor = make_sensor(name, seed=seed, say=say, fps=fps)
    return sensor if record is None else recorded(sensor, record)


def _watcher(*, verbose: bool) -> Callable[[Seen], None]:
    left = False

    def watch(seen: Seen) -> None:
        nonlocal left
        if left:
            return
        try:
            if verbose and seen.record is not None:
                click.echo(f"[DEBUG] {record_line(seen.record)}")
            click.echo(step_line(seen))
        except BrokenPipeError:  # whoever read our lines left: end as if interrupted, nothing is lost
            left = True
            raise KeyboardInterrupt from None

    return watch


def step_line(seen: Seen) -> str:
    """Return the line a run prints for a step.

    >>> step_line(Seen(1, "Kitchen", 0.82, 3, 1, 0, True, None))
    '[0001] loc=Kitchen(0.82) ent=3 evt=1 ep=0 [FREEZE]'
    """
    line = (
        f"[{seen.number:04d}] loc={seen.place or 'unknown'}({seen.confidence:.2f}) "
        f"ent={seen.entities} evt={seen.events} ep={seen.episode}"
    )
    return f"{line} [FREEZE]" if seen.freezes else line


def _tell(report: RunReport) -> None:
    noticed = ", ".join(f"{name} {count}" for name, count in report.counts.items())
    click.echo(
        f"{report.steps} steps, {report.episodes} episodes in thread {report.thread}; "
        f"ended: {report.ended}{f' ({noticed})' if noticed else ''}"
    )


def _make_folder(folder: Path) -> None:
    """Make a folder to write to; InvalidInput where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(
            f"cannot write to {folder} ({error.strerror or error}); name another folder by --output"
        ) from error


def _write(memory: Memory, thread: str, user: str | None, folder: Path) -> None:
    """Write the thread's episodes as Markdown and JSON lines, the plot of its boundaries and its map."""
    cards = memory.episodes(user_id=user, thread=thread)
    for number, card in enumerate(cards, start=1):  # many episodes of an agent begin in one minute
        told = episode_markdown(card, memory.messages(card.episode_id, user_id=user))
        (folder / f"{number:04d}-{slug(card.title)}.md").write_text(told, encoding="utf-8")
    with (folder / "episodes.jsonl").open("w", encoding="utf-8") as file:
        for card in cards:
            file.write(
                json.dumps(plain(memory.get(card.episode_id, user_id=user)), ensure_ascii=False) + "\n"
            )
    try:
        plot_svg(memory.trace(thread, user_id=user), folder / "boundaries.svg")
        seen = memory.places(user_id=user, thread=thread)
        if seen.places:
            map_svg(seen, folder / "map.svg", title=thread)
    except InvalidInput as missing:  # pictures are an extra, the episodes are not
        say(f"no plot and no map: {missing}")


@click.command()
@common
def profiles(app: App, user: str | None, as_json: bool) -> None:
    """List the profiles an agent can run under."""
    del app, user
    found = all_profiles()
    if as_json:
        print_json({"profiles": found})
        return
    for profile in found:
        out().print(f"{profile.name:14} {profile.description} ({profile.policy()})", markup=False)


@click.command()
@common
def sensors(app: App, user: str | None, as_json: bool) -> None:
    """List the sensors an agent can perceive with."""
    del app, user
    if as_json:
        print_json({"sensors": list(SENSORS)})
        return
    for line in SENSORS.values():
        out().print(line, markup=False)
