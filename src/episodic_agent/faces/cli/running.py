"""Commands that run an agent: run, profiles, sensors."""

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import click
from click.core import ParameterSource

from episodic_agent.agents.profiles import ProfileConfig, known_policy
from episodic_agent.agents.run import INTERRUPTED, RunReport, Seen, interval_of
from episodic_agent.core.boundary.steps.scoring import record_line
from episodic_agent.core.language import plural
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.faces.cli.app import (
    App,
    check_output,
    common,
    force,
    out,
    print_json,
    say,
    say_error,
    tell,
)
from episodic_agent.faces.markdown import slug
from episodic_agent.faces.plot.figure import plot_svg
from episodic_agent.faces.plot.map import map_svg
from episodic_agent.faces.shapes import episode_markdown
from episodic_agent.private import make_folder, replacing, write_text
from episodic_agent.protocols import Sensor
from episodic_agent.showing import plain
from episodic_agent.wiring import load_settings, resolve_policy
from episodic_agent.wiring.agents import SENSORS, all_profiles, find_profile, make_sensor, recorded

LEFT_BY_SIGNAL = 128  # and the signal's number
DETECTOR_FAILED = 1
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
AGENT = "agent"  # whose memory a run fills where nobody is remembered yet
EPISODES = "episodes.jsonl"  # in the folder of --output
_WORLD = ("sensor_name", "profile_name")  # the parameters of which either says what is perceived
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
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Write episodes, plot and map."
)
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Keep the readings.")
@click.option("--verbose", is_flag=True, help="Also the boundary score of every step.")
@click.option("--quiet", is_flag=True, help="Only the result.")
@force
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
    overwrite: bool,
) -> None:
    """Run an agent: a sensor's readings become steps, and steps episodes.

    Leaves with 0 at the end, 1 when a detector of your own failed, 2 when the sensor did, 130 when
    interrupted, 143 when terminated; what came is kept every time.
    """
    if verbose and quiet:
        raise InvalidInput("--verbose and --quiet exclude each other")
    if Path.cwd().as_posix() not in sys.path:
        sys.path.insert(0, Path.cwd().as_posix())  # a detector of one's own lies where one works
    profile = find_profile(profile_name)
    named = [n for n in _WORLD if context.get_parameter_source(n) is ParameterSource.COMMANDLINE]
    if not profile.sensor and "sensor_name" not in named:
        raise InvalidInput(f"profile {profile.name} is for messages; `episodic import FILE` takes them in")
    policy = _policy(profile, own or app.policy, freeze_interval)
    resolve_policy(policy)  # refused before anything is connected or opened
    if fps is not None:
        interval_of(fps)
    if output is not None:
        check_output(output / EPISODES, overwrite=overwrite, makes_folder=True)
        _make_folder(output)  # nobody wants to learn at the end of a long run that there is no place for it
    check_output(record, overwrite=overwrite)
    sensor = _sensor(sensor_name or profile.sensor, seed, record, fps)
    if not named:
        app.user_name = _who_walks(app.user_name)
    watch = None if quiet or app.as_json else _watcher(verbose=verbose)
    with app.user(create=True, first=AGENT) as memory, _ended_by_signals() as signals:
        report = memory.run(
            sensor,
            thread=thread,
            steps=steps,
            fps=fps or FPS,
            policy=policy,
            watch=watch,
            say=say,
        )
        if output is not None and report.steps:
            _write(memory, report.thread, output)
    if app.as_json:
        print_json(report)
    else:
        _tell(report)
    sys.exit(_code(report, signals))


def _who_walks(user: str | None) -> str:
    """Return whose memory a world fills that nobody named: an agent's own, not that of the only user."""
    name = user or load_settings().user or AGENT
    say(f"no --sensor or --profile: {name!r} walks through a simulated world (`episodic sensors`)")
    return name


@contextmanager
def _ended_by_signals() -> Iterator[list[int]]:
    """Let SIGTERM, and a terminal that closes, end a run in order as Ctrl-C does; yield those that came."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # only the main thread may ask for signals
        yield came
        return

    def interrupt(number: int, _frame: object) -> None:
        came.append(number)
        if len(came) == 1:  # a second one finds it ending
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in SIGNALS}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _code(report: RunReport, signals: list[int]) -> int:
    """Say what failed, and return the code to leave with."""
    for problem in (report.error, report.detector_error):
        if problem:
            say_error(problem)
    if report.ended == INTERRUPTED:
        return LEFT_BY_SIGNAL + next(iter(signals), signal.SIGINT)
    if report.error:
        return SensorError.exit_code
    return DETECTOR_FAILED if report.detector_error else 0


def _policy(profile: ProfileConfig, own: str | None, interval: int | None) -> str:
    """Return the name of the policy to run: the one asked for or the profile's, with its numbers."""
    return known_policy(
        profile.policy(interval) if own is None else profile.named(known_policy(own), interval)
    )


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
                tell(f"[DEBUG] {record_line(seen.record)}")
            tell(step_line(seen))
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
    for refusal in report.refusals:
        say(f"refused: {refusal}")
    noticed = ", ".join(f"{name} {count}" for name, count in report.counts.items())
    tell(
        f"{plural(report.steps, 'step')}, {plural(report.episodes, 'episode')} in thread {report.thread}; "
        f"ended: {report.ended}{f' ({noticed})' if noticed else ''}"
    )


def _make_folder(folder: Path) -> None:
    """Make a folder to write to; InvalidInput where that cannot be."""
    try:
        make_folder(folder)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(
            f"cannot write to {folder} ({error.strerror or error}); name another folder by --output"
        ) from error


def _write(memory: UserMemory, thread: str, folder: Path) -> None:
    """Write the thread's episodes as Markdown and JSON lines, the plot of its boundaries and its map."""
    cards = memory.episodes.list(thread=thread)
    for number, card in enumerate(cards, start=1):  # many episodes of an agent begin in one minute
        text = episode_markdown(card, memory.episodes.messages(card.episode_id))
        write_text(folder / f"{number:04d}-{slug(card.title)}.md", text)
    with replacing(folder / EPISODES) as file:
        for card in cards:
            file.write(json.dumps(plain(memory.episodes.get(card.episode_id)), ensure_ascii=False) + "\n")
    try:
        plot_svg(memory.boundaries.trace(thread), folder / "boundaries.svg")
        seen = memory.places.list(thread=thread)
        if seen.places:
            map_svg(seen, folder / "map.svg", title=thread)
    except InvalidInput as missing:  # pictures are an extra, the episodes are not
        say(f"no plot and no map: {missing}")


@click.command()
@common
def profiles(app: App) -> None:
    """List the profiles an agent can run under."""
    configs = all_profiles()
    if app.as_json:
        print_json({"profiles": configs})
        return
    for profile in configs:
        out().print(f"{profile.name:14} {profile.description} ({profile.policy()})")


@click.command()
@common
def sensors(app: App) -> None:
    """List the sensors an agent can perceive with."""
    if app.as_json:
        print_json({"sensors": list(SENSORS)})
        return
    for line in SENSORS.values():
        out().print(line)
