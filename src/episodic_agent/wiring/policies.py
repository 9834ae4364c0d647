"""Boundary policies by name, and the calibration that fits them to an embedder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.policies import calibrated, check_name, for_embedder
from episodic_agent.core.boundary.policies import policy as named_policy
from episodic_agent.core.calibration import Calibration
from episodic_agent.data import demo_folder
from episodic_agent.engine.embedding import FormerEmbedder
from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.lazily import module
from episodic_agent.protocols import Embedder
from episodic_agent.settings import Settings
from episodic_agent.wiring.process import load_settings
from episodic_agent.wiring.providers import OPENAI, Say, embedder_by_name, make_embedder

if TYPE_CHECKING:
    from episodic_agent.engine.evaluate import calibrating
    from episodic_agent.engine.evaluate.calibrating import Conversation, Fitted
    from episodic_agent.wiring import agents
else:
    calibrating = module("episodic_agent.engine.evaluate.calibrating")
    agents = module("episodic_agent.wiring.agents")


def calibration_file(embedder: str, settings: Settings) -> Path:
    """Return where `calibrate` keeps what it fitted for an embedder, unless told otherwise."""
    return Path(settings.cache).expanduser() / "calibrations" / f"{quote(embedder, safe='')}.json"


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder we may not look into holds nothing fitted for us
        return False


def find_calibration(
    embedder: Embedder | None, settings: Settings, target: "str | Path | Calibration | None" = None
) -> Calibration | None:
    """Return what was fitted for an embedder: given, in a file, or by default in the cache folder; else None.

    Raises InvalidInput for a file that is missing, damaged or of another embedder.
    """
    chosen = settings.calibration if target is None else target
    if embedder is None or chosen in ("none", ""):
        return None
    if isinstance(chosen, Calibration):
        calibration = chosen
    elif chosen == "auto":
        path = calibration_file(embedder.name, settings)
        if not _is_there(path):
            return None
        calibration = calibrating.load(path)
    else:
        calibration = calibrating.load(Path(chosen).expanduser())
    if calibration.embedder != embedder.name:
        raise InvalidInput(
            f"this calibration was fitted for {calibration.embedder}, not {embedder.name}; run `episodic "
            f"calibrate`"
        )
    return calibration


def former_embedder(name: str, settings: Settings, own: Embedder | None) -> FormerEmbedder | None:
    """Return the embedder whose name stored vectors carry, where it is at hand, and its scale.

    One on a server only where `own`, which took its place, is on the server too: a server that is named no
    more is told no question.
    """
    if name.startswith(OPENAI) and (own is None or not own.name.startswith(OPENAI)):
        return None
    embedder = embedder_by_name(name, settings)
    return (
        None if embedder is None else FormerEmbedder(embedder, find_calibration(embedder, settings, "auto"))
    )


def demo_conversations() -> "list[Conversation]":
    """Return the conversations that come with the package."""
    folder = demo_folder()
    return [talk for path in sorted(folder.glob("*.jsonl")) for talk in calibrating.conversations_in(path)]


def calibrate(
    embedder: "str | Embedder",
    conversations: "Sequence[Conversation] | None" = None,
    *,
    labelled: Sequence[Path] = (),
    output: "str | Path | None" = None,
    say: Say | None = None,
) -> "Fitted":
    """Fit an embedder's scale on conversations (lists of texts; default: the shipped ones) and keep it.

    It is written to `output`, by default to where `Memory.open` looks for it. `labelled` files, as for
    `evaluate segmentation`, also settle the threshold. The default embedder must be at hand, to compare with.
    Raises InvalidInput for it itself, for too few texts and unknown names.
    """
    settings = load_settings()
    built = make_embedder(embedder, settings, say) if isinstance(embedder, str) else embedder
    if built is None:
        raise InvalidInput(f"{embedder!r} makes no vectors; name the --embedder to calibrate")
    default = make_embedder("minilm", settings, say)
    if default is None:  # `minilm` raises where it cannot be had
        raise ProviderUnavailable("the default embedder is missing; run `episodic models pull`")
    texts = demo_conversations() if conversations is None else conversations
    fitted = calibrating.calibrate(built, default, texts, labelled, say or (lambda _line: None))
    calibrating.save(fitted.calibration, Path(output) if output else calibration_file(built.name, settings))
    return fitted


def resolver(
    embedder: Embedder | None, calibration: Calibration | None = None
) -> Callable[[str], Policy[Any]]:
    """Return how policies are found by name where this embedder makes the vectors."""
    return lambda name: resolve_policy(name, embedder=embedder, calibration=calibration)


def check_policy(name: str) -> None:
    """Refuse a policy nobody knows; one of ours whose name says everything is not loaded for it."""
    if ":" in name.partition("?")[0]:
        agents.detector_policy(name)
    else:
        check_name(name)


def resolve_policy(
    name: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    embedder: Embedder | None = None,
    calibration: Calibration | None = None,
) -> Policy[Any]:
    """Return a policy by name with changed parameters; InvalidInput names what there is.

    `module:Class` is a detector of the user's own, its parameters those of its constructor:
    `mine.detectors:MyDetector?threshold=0.5`.
    """
    arguments = overrides or {}
    if ":" in name.partition("?")[0]:
        return agents.detector_policy(name)
    named = calibrated(name, calibration, **arguments) if calibration else named_policy(name, **arguments)
    return named if embedder is None else for_embedder(named, embedder.name)
