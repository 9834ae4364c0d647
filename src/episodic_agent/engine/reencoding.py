"""The verb that has closed episodes told again: by a better model, a newer prompt, or without one."""

from collections.abc import Sequence
from uuid import UUID

from episodic_agent.engine.encode import ask_again
from episodic_agent.engine.given import tidy
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Episode, Scope

_AT_ONCE = 256  # jobs asked for in one transaction


class EncodingVerbs(Scoped):
    """The verb of `Memory` about encoding again."""

    def reencode(
        self,
        *,
        thread: str | None = None,
        every: bool = False,
        by: str | None = None,
        user_id: str | None = None,
    ) -> int:
        """Find the words of closed episodes anew, with what this memory is opened with; return of how many.

        Those of one `thread`, or with `every` all the user's; `by` narrows it to what was encoded by this (as
        `Episode.encoded_by` says, or its beginning: "extractive"). What comes out otherwise than it was
        becomes the newest version (`history` lists them) and replaces what is searched; observations and
        strength stay. With `jobs="workers"` it waits for nobody. Raises InvalidInput where nothing says which
        episodes.
        """
        if (thread is None) == (not every):
            raise InvalidInput("name a thread, or say that all of them are meant (`every=True`), not both")
        scope, maker = self._known(user_id), tidy(by)
        chosen = self._encoded(scope, None if thread is None else self._thread_id(scope, thread), maker)
        for start in range(0, len(chosen), _AT_ONCE):
            with self._parts.store.begin(scope) as tx:
                ask_again(tx, chosen[start : start + _AT_ONCE], self._parts.clock())
        self._run_here(scope)
        return len(chosen)

    def _encoded(self, scope: Scope, thread_id: UUID | None, by: str | None) -> Sequence[Episode]:
        """Return the current episodes that have words, and by whom it was asked for."""
        with self._parts.store.begin(scope, write=False) as tx:
            threads = [thread_id] if thread_id is not None else [one.id for one in tx.threads.list()]
            found = [episode for one in threads for episode in tx.episodes.of_thread(one)]
        return [e for e in found if e.encoding_version and (by is None or e.encoded_by.startswith(by))]

    def _run_here(self, scope: Scope | None = None) -> int:
        raise NotImplementedError
