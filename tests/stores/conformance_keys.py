"""What every store must do about the keys of the service."""

from datetime import date, timedelta

from stores.builders import NOW
from stores.conformance import StoreFixture

from episodic_agent.protocols import Store
from episodic_agent.schemas.keys import ApiKey, Role

KEY = ApiKey("0a", "acme", Role.WRITE, NOW)


class KeyConformance(StoreFixture):
    def test_a_key_is_kept_by_its_digest(self, store: Store) -> None:
        other = ApiKey("0b", "acme\N{SNOWMAN} 2", Role.READ, NOW + timedelta(seconds=1))
        store.keys.add(other, b"\x00\xff" * 16)
        store.keys.add(KEY, b"\x01" * 32)
        assert store.keys.by_digest(b"\x01" * 32) == KEY
        assert store.keys.by_digest(b"\x02" * 32) is None
        assert list(store.keys.list()) == [KEY, other]

    def test_a_key_is_used_and_revoked_for_good(self, store: Store) -> None:
        store.keys.add(KEY, b"\x01" * 32)
        store.keys.touch(KEY.id, date(2026, 3, 12))
        store.keys.revoke(KEY.id, NOW + timedelta(hours=1))
        store.keys.revoke(KEY.id, NOW + timedelta(hours=2))
        store.keys.touch("nobody", date(2026, 3, 12))
        (left,) = store.keys.list()
        assert (left.last_used_on, left.revoked_at) == (date(2026, 3, 12), NOW + timedelta(hours=1))
        assert list(store.scopes("acme")) == []  # a key makes nobody known
