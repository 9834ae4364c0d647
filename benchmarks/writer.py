"""One writer in a process of its own: `python -m benchmarks.writer URL NUMBER`.

Reads one order a line on standard input, `COUNT CHUNK`, adds as many messages to its own named thread in
chunks of that size, and answers with the seconds it took. Vectors are given; titles and summaries wait.
"""

import secrets
import sys
import time
from itertools import islice, product

from benchmarks.speed import WORDS, Deferring
from benchmarks.synthetic import Vocabulary, WordVectors, conversation

STOCK = 2_048  # messages made before the clock runs; used again under other ids
USER = "ana"


def made_up(words: int = 4_000) -> Vocabulary:
    """Return a vocabulary whose n-th word is n times rarer than the first, as in any language."""
    spelt = ["".join(letters) for letters in islice(product(WORDS, repeat=3), words)]
    return Vocabulary(spelt, [1 + 4 * words // (n + 1) for n in range(words)], [8, 12, 16, 20])


def main(url: str, number: int) -> None:
    """Carry out orders until there are none."""
    vocabulary = made_up()
    embedder = WordVectors(vocabulary)
    messages = conversation(vocabulary, STOCK, seed=number)
    embedder.embed([m["content"] for m in messages])  # from here on a look-up
    written, life = 0, secrets.token_hex(8)
    with Deferring.open(url, embedder=embedder, resume=False) as memory:
        memory.add(USER, messages[0] | {"id": f"{life} first"}, thread=f"thread {number}")
        print("ready", flush=True)
        for line in sys.stdin:
            count, chunk = map(int, line.split())
            stock = [messages[(written + n) % STOCK] | {"id": f"{life} {written + n}"} for n in range(count)]
            started = time.perf_counter()
            for start in range(0, count, chunk):
                memory.add(USER, stock[start : start + chunk], thread=f"thread {number}")
            print(time.perf_counter() - started, flush=True)
            written += count


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
