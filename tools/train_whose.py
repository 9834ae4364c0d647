"""Train whose commitments a question asks for (`core/recall/commitments.py`) and ship the judge.

    python tools/train_whose.py

It learns from `tools/facts/asked_whose.tsv` ("+": what others took on or owe to who asks; "-": what who asks
took on), written by hand in six languages. Printed: how it does on a fifth that it is not taught.
"""

from judges import HERE, listed_rows
from shipping import Origin, ship_arrays
from train_commitments import Lines

from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.recall.commitments import WHOSE
from episodic_agent.wiring import load_settings, make_embedder


def main() -> None:
    """Train, print the figures, and write the weights."""
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    arrays = Lines(listed_rows(HERE / "facts" / "asked_whose.tsv", embedder)).train("asked_whose.tsv", 0.65)
    what = "judge of whether a question for commitments asks for those of others"
    ship_arrays(WHOSE, arrays, Origin("tools/train_whose.py", "tools/facts (asked_whose.tsv)", what))


if __name__ == "__main__":
    main()
