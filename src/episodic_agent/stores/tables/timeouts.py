"""How long a thread of a channel may be silent, where the user said so, as rows."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from episodic_agent.stores.rows import span_microseconds
from episodic_agent.stores.tables.dialect import Table

_PUT: Final = (
    "INSERT INTO timeout (:keys, channel, lasts) VALUES (:own, :channel, :lasts)"
    " ON CONFLICT (:keys, channel) DO UPDATE SET lasts = excluded.lasts"
)


class TimeoutTable(Table):
    """The user's own timeouts."""

    def timeouts(self) -> Mapping[str, timedelta]:
        """Return the user's own timeouts by channel ("" for all)."""
        results = self._session.read("SELECT channel, lasts FROM timeout WHERE :mine ORDER BY channel")
        return {channel: timedelta(microseconds=lasts) for channel, lasts in results}

    def set_timeout(self, channel: str, timeout: timedelta | None) -> None:
        """Keep the user's own timeout of a channel ("" for all); None takes it away."""
        if timeout is None:
            self._session.change("DELETE FROM timeout WHERE :mine AND channel = :channel", channel=channel)
        else:
            self._session.change(_PUT, channel=channel, lasts=span_microseconds(timeout))
