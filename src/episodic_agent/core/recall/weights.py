"""The weights of the default recall, fitted by hand on development data, one setting for all of it."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Hold every number the fusion uses; each leg is scaled to 1 at its best within the query first.

    Fitted on REALTALK, BEAM, MemDaily, LifeBench, QMSum, ALFRED and LLQA together. The optimum is flat:
    a step of a fifth to a half in one weight moves the mean recall by less than .008, so none was fitted
    closer.

    `dense` is the vector leg's share, the rest is BM25's; `dense_foreign` where the embedder does not know
    the query's language (an English model adds little to Chinese). `known_below` and `foreign_from` are the
    cosines of strangers up to which it knows a language well and from which on it does not (`fusion.trust`);
    0 for both: the script decides. `neighbour_*` is each neighbour's share
    of its own leg, halved at `neighbour_hours` of silence between. The names in `_bigrams` stand for them in
    scripts cut into bigrams, where texts written hours apart share them by chance (Chinese: MemDaily +.005,
    LifeBench +.001, with half weight for particles +.008). `speaker`, `time`, `place`, `phrase`, `part` (one
    of several questions asked at once), `order` (the last time, the first time), `length` (a text that can
    hold an answer), `summary` and `second` (shared with the first hits) are added at a full match; `states`
    (somebody states what lasts) by its likelihood, in proportion to the whole; `due` (said of days to come
    that are asked about) as a share of the best; `literal` (words to look for stand there) outweighs the
    rest. For episodes: `more` for further observations (halved for each), `own` for the episode's own
    text and vector, `thread` for the thread's other episodes, `floor` of the strength prior. `occasions`:
    where the last or first time is asked for, an episode is as good as its best observation, and how long
    a text is says nothing of whether it is meant.
    """

    dense: float = 0.5
    dense_foreign: float = 0.2
    known_below: float = 0.25
    foreign_from: float = 0.5
    neighbour_lexical: float = 0.3
    neighbour_dense: float = 0.15
    neighbour_hours: float = 12.0
    speaker: float = 0.25
    time: float = 0.2
    place: float = 0.2
    phrase: float = 0.3
    literal: float = 1.0
    part: float = 0.5
    order: float = 1.0
    length: float = 0.15
    summary: float = 0.05
    second: float = 0.2
    states: float = 0.3
    due: float = 0.3
    more: float = 0.2
    own: float = 0.2
    thread: float = 0.05
    floor: float = 0.7
    occasions: bool = True
    neighbour_lexical_bigrams: float = 0.35
    neighbour_hours_bigrams: float = 3.0
    part_bigrams: float = 0.8

    def for_bigrams(self) -> "FusionWeights":
        """Return the weights for a query in a script that is cut into bigrams."""
        return replace(
            self,
            neighbour_lexical=self.neighbour_lexical_bigrams,
            neighbour_hours=self.neighbour_hours_bigrams,
            part=self.part_bigrams,
        )


DEFAULT_WEIGHTS = FusionWeights()
WEIGHTS_2026_12 = FusionWeights(
    known_below=0.0, foreign_from=0.0, second=0.0, states=0.0, order=0.5, occasions=False
)
"""Those of recall `recall-2026-12`: one round, no matter who states what, and the script says whether the
embedder knows a language."""
