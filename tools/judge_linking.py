"""Judge the shipped linking policies on labelled cases; fits nothing.

    python tools/judge_linking.py --labels FILE --half dev|frozen [--model DIR] [--errors]

Cases written by somebody who has not seen the rules have two halves; the frozen one is run once.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from linking.cases import Read, load, read

from episodic_agent.core.links.evidence import judge
from episodic_agent.core.links.policies import link_policy
from episodic_agent.core.links.verdict import compete, decide
from episodic_agent.providers.embedders.minilm import MiniLM


def judged(reads: Sequence[Read], policy: str, *, errors: bool) -> dict[str, object]:
    """Return precision, recall and F1 of links over all cases, and errors by kind of case."""
    chosen = link_policy(policy)
    right = predicted = labelled = 0
    wrong: Counter[str] = Counter()
    for item in reads:
        evidence = judge(item.message, item.threads, item.case.message.at, chosen)
        verdicts = compete([decide(e, chosen) for e in evidence], item.message.most)
        linked = {v.thread_id for v in verdicts if v.link}
        right, predicted = right + len(linked & item.case.links), predicted + len(linked)
        labelled += len(item.case.links)
        for what, some in (("false", linked - item.case.links), ("missed", item.case.links - linked)):
            if some:
                wrong[f"{item.case.kind}, {what}"] += len(some)
                if errors:
                    print(f"{policy}: {what} {sorted(some)} in {item.case.id}: {item.case.message.text}")
    precision, recall = right / max(1, predicted), right / max(1, labelled)
    f1 = 2 * right / max(1, predicted + labelled)
    return {
        "cases": len(reads), "links": labelled, "precision": round(precision, 3), "recall": round(recall, 3),
        "f1": round(f1, 3), "errors": dict(wrong.most_common()),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--half", choices=("dev", "frozen"), required=True)
    parser.add_argument("--model", type=Path, default=Path.home() / ".cache" / "episodic-agent")
    parser.add_argument("--errors", action="store_true", help="print each error")
    options = parser.parse_args()
    cases = load(options.labels, options.half)
    result = {}
    for name, embedder in (("vectors", MiniLM(options.model)), ("words", None)):
        reads = list(read(cases, embedder))
        for policy in ("default", "seed-002"):
            result[f"{policy}, {name}"] = judged(reads, policy, errors=options.errors)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
