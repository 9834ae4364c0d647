"""The policies by name: the one table that turns a name on a frame or a command line into a policy."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, unquote

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.steps.parameters import PREFIX
from episodic_agent.core.calibration import Calibration
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core.boundary.conversation import default, dual_channel, former
    from episodic_agent.core.boundary.steps import default as steps_default
    from episodic_agent.core.boundary.steps import learned, reference
else:
    default = module("episodic_agent.core.boundary.conversation.default")
    dual_channel = module("episodic_agent.core.boundary.conversation.dual_channel")
    former = module("episodic_agent.core.boundary.conversation.former")
    learned = module("episodic_agent.core.boundary.steps.learned")
    steps_default = module("episodic_agent.core.boundary.steps.default")
    reference = module("episodic_agent.core.boundary.steps.reference")

Pair: TypeAlias = tuple[float, float]
Parameter: TypeAlias = int | float | str | Pair
Override: TypeAlias = int | float | str | Pair

# Each policy has its own kind of memory; only the policy itself looks inside, hence Any.
# The module of a policy, with the weights it judges by, is loaded when the policy is asked for.
_POLICIES: Final[Mapping[str, Callable[[], Callable[..., Policy[Any]]]]] = {
    "default-2027-03": lambda: default.DefaultPolicy,
    "default-2027-02": lambda: former.DefaultPolicy202702,
    "default-2027-01": lambda: former.DefaultPolicy202701,
    "default-2026-12": lambda: former.DefaultPolicy202612,
    "seed-001": lambda: dual_channel.DualChannelPolicy,
    "steps-2027-02": lambda: learned.LearnedStepsPolicy,
    "steps-2027-01": lambda: learned.LearnedStepsPolicy202701,
    "steps-2026-12": lambda: steps_default.StepsPolicy,
    "seed-000": lambda: reference.HysteresisPolicy,
    "stub": lambda: reference.StubPolicy,
}
MEASURED: Final = "minilm"  # the family of embedder names whose cosines `NEIGHBOURS` was measured on
_ALIASES: Final[Mapping[str, str]] = {
    "default": "default-2027-03",
    "dual-channel": "seed-001",
    "steps": "steps-2027-02",
    "hysteresis": "seed-000",
}
_OTHER: Final = {"message": "step", "step": "message"}
_OF: Final = {"message": ("default-", "seed-001"), "step": ("steps-", "seed-000")}
DEFAULT: Final = "default"
MESSAGE: Final = "message"
STEP: Final = "step"  # the modality of a thread that begins with an agent's step
_DEFAULT_STEPS: Final = "steps-2027-02"


def policy_names() -> list[str]:
    """Return every name `policy` accepts, aliases included, sorted.

    >>> "dual-channel" in policy_names()
    True
    """
    return sorted([*_POLICIES, *_ALIASES])


def policy(name: str, **overrides: Override) -> Policy[Any]:
    """Return a policy by name, with parameters of your own; `default` is the one for conversations.

    A name may carry them too, as the names stored on frames do: `seed-001?max_messages=30`. Raises
    InvalidInput for an unknown name or parameter, naming the nearest known one.

    >>> policy("dual-channel").name
    'seed-001'
    >>> policy("seed-001", max_messages=30).name == policy("seed-001?max_messages=30").name
    True
    """
    base, _, query = name.strip().partition("?")
    known = _ALIASES.get(base, base)
    if known not in _POLICIES:
        raise InvalidInput(f"unknown boundary policy {base!r}{_nearest(base, policy_names())}")
    factory = _POLICIES[known]()
    parameters = _parameters(factory)
    arguments = _typed(parameters, _parse(query, known) | overrides, known)
    changed = {
        key: arguments[key] for key in parameters if arguments.get(key, parameters[key]) != parameters[key]
    }
    if not changed:
        return factory()
    # a frame stores only the name: it must say everything the policy was made with (I7)
    own = "&".join(f"{key}={written(value)}" for key, value in changed.items())
    return factory(**changed, name=f"{known}?{own}")


def name_alone(name: str) -> str | None:
    """Return the full name of a policy that is named without parameters; None for any other.

    >>> name_alone("default") == policy("default").name, name_alone("default?threshold=0.4")
    (True, None)
    """
    known = _ALIASES.get(name, name)
    return known if known in _POLICIES else None


def check_name(name: str) -> None:
    """Refuse a policy nobody knows, as `policy` does, without loading one whose name says everything."""
    if name_alone(name) is None:
        policy(name)


def check_modality(name: str, modality: str) -> None:
    """Refuse a policy for messages where steps are judged, and one for steps where messages are.

    The stub counts, whatever it counts; detectors of one's own may judge both. Raises InvalidInput.

    >>> [check_modality(name, "step") for name in ("default", "stub", "mine:Own")]
    [None, None, None]
    """
    base = name.strip().partition("?")[0]
    known = _ALIASES.get(base, base)
    if base == DEFAULT or not known.startswith(_OF[_OTHER[modality]]):
        return
    own = [one for one in policy_names() if _ALIASES.get(one, one).startswith((*_OF[modality], "stub"))]
    others = ", or a detector of your own as module:Class" if modality == STEP else ""
    raise InvalidInput(
        f"policy {base!r} is for {_OTHER[modality]}s, not for {modality}s; "
        f"for {modality}s there are default, {', '.join(own)}{others}"
    )


def policy_for(name: str, modality: str) -> str:
    """Return the policy that messages, or steps, follow where a memory's is this one.

    What is for the other kind leaves them to the default one.

    >>> [policy_for(name, "step") for name in ("default?threshold=0.4", "stub?freeze_interval=9", "seed-001")]
    ['steps-2027-02', 'stub?freeze_interval=9', 'steps-2027-02']
    >>> policy_for("seed-000", "message"), policy_for("seed-001", "message")
    ('default', 'seed-001')
    """
    base = name.strip().partition("?")[0]
    # its parameters are those of the other kind: an agent's run names its own
    own = is_for(name, modality) and not (modality == STEP and base == DEFAULT)
    return name if own else for_modality(DEFAULT, modality)


def is_for(name: str, modality: str) -> bool:
    """Tell whether a policy judges messages, or steps."""
    try:
        check_modality(name, modality)
    except InvalidInput:
        return False
    return True


def for_modality(name: str, modality: str) -> str:
    """Return the name under which `policy` finds what `default` means for a thread's modality.

    Any other name stays as it is: who asks for a policy gets that one.

    >>> for_modality("default", "step"), for_modality("default", "message"), for_modality("seed-000", "step")
    ('steps-2027-02', 'default', 'seed-000')
    """
    base, query, parameters = name.strip().partition("?")
    return _DEFAULT_STEPS + query + parameters if modality == STEP and base == DEFAULT else name


def for_embedder(chosen: Policy[Any], embedder: str) -> Policy[Any]:
    """Return the policy as it reads the cosines of an embedder, named as vectors name it.

    The table of the default policy belongs to one embedder, and what a calibration fitted to another; with
    any other the policy learns each thread's own scale. So name and embedder together say everything.

    >>> for_embedder(policy("default"), "hashing-256").scale is None
    True
    >>> for_embedder(policy("default"), "minilm-f32-1") == policy("default")
    True
    >>> fitted = policy("default", scale=(0.5, 0.1), embedder="mine")
    >>> for_embedder(fitted, "mine").scale, for_embedder(fitted, "yours").scale
    ((0.5, 0.1), None)
    """
    if not isinstance(chosen, default.DefaultPolicy) or chosen.embedder == embedder:
        return chosen
    measured = embedder.startswith(MEASURED)
    if chosen.embedder:
        return replace(chosen, scale=default.NEIGHBOURS if measured else None, vectors=1)
    by_hand = chosen.scale != default.NEIGHBOURS or measured
    return chosen if by_hand else replace(chosen, scale=None)


def calibrated(name: str, calibration: Calibration, **overrides: Override) -> Policy[Any]:
    """Return a policy by name with what a calibration fitted, where its name leaves that open.

    A name without a date means the best there is; a dated name, as frames store them, is taken to the letter.

    >>> fitted = Calibration("mine", 0.7, (0.5, 0.1), ((0.0, 0.0), (1.0, 1.0)))
    >>> calibrated("default", fitted).name
    'default-2027-03?scale=0.5,0.1&embedder=mine'
    >>> calibrated("default-2027-03", fitted).name
    'default-2027-03'
    """
    chosen = policy(name, **overrides)
    if name.strip().partition("?")[0] not in _ALIASES or not isinstance(chosen, default.DefaultPolicy):
        return chosen
    if chosen.embedder or chosen.scale != default.NEIGHBOURS or not chosen.vectors:
        return chosen
    fitted: dict[str, Override] = {"embedder": calibration.embedder}
    if calibration.scale is None:
        fitted["vectors"] = 0
    else:
        fitted["scale"] = calibration.scale
    if calibration.threshold is not None and chosen.threshold == default.DefaultPolicy().threshold:
        fitted["threshold"] = calibration.threshold
    return policy(name, **(overrides | fitted))


def asking(chosen: Policy[Any]) -> Policy[Any]:
    """Return a policy as it is where a language model answers: the same one, of the same name.

    A name says what becomes of messages and answers. Whether anybody answers is no part of it, just as for
    `seed-001`: a question nobody answers is decided as if it had not been asked.

    >>> asking(policy("default")).name == policy("default").name
    True
    """
    return replace(chosen, asks=True) if isinstance(chosen, default.DefaultPolicy) and chosen.band else chosen


def _parse(query: str, name: str) -> dict[str, Override]:
    results: dict[str, Override] = {}
    for piece in filter(None, query.split("&")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise InvalidInput(f"policy {name}: {piece!r} must be written parameter=value")
        results[key.strip()] = unquote(value.strip())
    return results


def _parameters(factory: Callable[..., Policy[Any]]) -> dict[str, Parameter]:
    """Return what a policy is built with and the defaults, in the order of its fields; its name is none."""
    results: Mapping[str, Any] = {f.name: f.default for f in fields(factory) if f.init and f.name != "name"}  # type: ignore[arg-type]
    return {k: v for k, v in results.items() if type(v) in _REQUIRED}


def _typed(
    parameters: Mapping[str, Parameter], arguments: Mapping[str, Override], name: str
) -> dict[str, Parameter]:
    """Check the parameters' names and bring each value to the type of its default."""
    typed: dict[str, Parameter] = {}
    for written, value in arguments.items():
        key = written if written in parameters else written.removeprefix(PREFIX)  # as seed 000's profiles do
        if key not in parameters:
            raise InvalidInput(
                f"policy {name} has no parameter {written!r}{_nearest(key, sorted(parameters))}"
            )
        if key in typed:
            raise InvalidInput(f"policy {name}: {key} is given twice, with and without {PREFIX!r}")
        try:
            typed[key] = _read(value, parameters[key])
        except (ValueError, TypeError) as error:
            target = _REQUIRED[type(parameters[key])]
            raise InvalidInput(f"policy {name}: {key} must be {target}, not {value!r}") from error
    return typed


_REQUIRED: Final[Mapping[type, str]] = {
    int: "a whole number", float: "a number", tuple: "two numbers with a comma between", str: "a word",
}  # fmt: skip


def _read(value: Override, like: Parameter) -> Parameter:
    """Read one parameter as the kind its default is; ValueError or TypeError when it cannot be."""
    if isinstance(like, tuple):
        first, second = value.split(",") if isinstance(value, str) else value  # type: ignore[misc]
        return float(first), float(second)
    return type(like)(value)  # type: ignore[arg-type]


def written(value: Parameter) -> str:
    """Write a parameter as a name carries it, so that reading it gives the same value.

    >>> written(0.4), written((0.5, 0.1)), written("openai:m?dimensions=8")
    ('0.4', '0.5,0.1', 'openai:m%3Fdimensions%3D8')
    """
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return quote(str(value), safe=":/ ") if isinstance(value, str) else str(value)


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{hint}; known: {', '.join(known)}"
