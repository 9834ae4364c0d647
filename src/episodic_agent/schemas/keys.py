"""A key of the service: which space it opens, and what may be done with it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from episodic_agent.showing import described


class Role(StrEnum):
    """What a key may do: `read` asks, `write` also adds and corrects, `admin` also erases and runs jobs."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def allows(self, needed: "Role") -> bool:
        """Tell whether this role may do what another one is needed for.

        >>> Role.WRITE.allows(Role.READ), Role.WRITE.allows(Role.ADMIN)
        (True, False)
        """
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: never the key itself. `id` is its public part, by which it is listed and revoked.

    All times are record time; `last_used_on` is a day (UTC), None for a key that was never used.
    """

    id: str
    space: str
    role: Role
    created_at: datetime
    last_used_on: date | None = None
    revoked_at: datetime | None = None

    def __repr__(self) -> str:
        return described(self, self.id, self.space, self.role.value, "revoked" if self.revoked_at else "")
