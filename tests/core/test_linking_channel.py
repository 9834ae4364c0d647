"""The benchmark of crowded channels on a channel made up for the purpose."""

from typing import Any

from benchmarks.thread_quality import by_names, fit, predict, read_channel


def unit(number: int, speaker: str, text: str, minute: int, *, scored: bool = True) -> dict[str, Any]:
    time = f"{9 + minute // 60:02}:{minute % 60:02}"
    return {"id": number, "speaker": speaker, "text": text, "time": time, "scored": scored, "system": False}


def channel(first: int = 0) -> dict[str, Any]:
    """Two people are helped at once; helpers say whom they mean."""
    lines = [
        ("anna", "how do I mount a usb stick?", None),
        ("bert", "my sound card is silent", None),
        ("carl", "anna: what does dmesg say about the stick?", 0),
        ("dora", "bert: is the channel muted in alsamixer?", 1),
        ("anna", "carl: it says sdb1", 2),
        ("bert", "dora: it was muted, thanks", 3),
    ]
    units = [unit(first + n, speaker, text, n) for n, (speaker, text, _) in enumerate(lines)]
    system = {"id": first + 6, "text": "=== emil has joined", "scored": True, "system": True}
    links = [
        (first + n, first + n if older is None else first + older) for n, (_, _, older) in enumerate(lines)
    ]
    return {"split": "train", "units": [*units, system], "links": [*links, (first + 6, first + 6)]}


def test_whoever_is_addressed_is_answered() -> None:
    read = read_channel(channel())
    assert by_names(read) == [tuple(link) for link in channel()["links"]]


def test_weights_learn_who_answers_what() -> None:
    learnt = [read_channel(channel(100 * n)) for n in range(6)]
    weights, scale = fit([choice for one in learnt for choice in one.choices])
    assert predict(read_channel(channel(900)), weights, scale) == channel(900)["links"]


def test_only_scored_messages_are_judged() -> None:
    raw = channel()
    raw["units"][0]["scored"] = False
    read = read_channel(raw)
    assert 0 not in read.messages
    assert (0, 0) not in read.links
