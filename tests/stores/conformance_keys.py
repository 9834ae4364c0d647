"""What every store must do about the keys of the service, and of its requests."""

from datetime import date, timedelta

from stores.builders import ANA, BO, NOW
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
        store.keys.revoke(KEY.id, NOW + timedelta(hours=3))
        store.keys.revoke(KEY.id, NOW + timedelta(hours=1))
        store.keys.revoke(KEY.id, NOW + timedelta(hours=2))
        store.keys.touch("nobody", date(2026, 3, 12))
        (left,) = store.keys.list()
        assert (left.last_used_on, left.revoked_at) == (date(2026, 3, 12), NOW + timedelta(hours=1))
        assert list(store.scopes("acme")) == []  # a key makes nobody known

    def test_a_request_is_known_by_its_key_for_as_long_as_is_asked(self, store: Store) -> None:
        day = timedelta(days=1)
        with store.begin(ANA) as tx:
            assert tx.keep_request(b"k\x00", b"first", now=NOW, oldest=NOW - day) == b"first"
            assert tx.keep_request(b"k\x00", b"second", now=NOW, oldest=NOW - day) == b"first"
        with store.begin(BO) as tx:
            assert tx.keep_request(b"k\x00", b"second", now=NOW, oldest=NOW - day) == b"second"
        with store.begin(ANA, write=False) as tx:
            assert tx.request(b"k\x00", NOW - day) == b"first"
            assert tx.request(b"k\x00", NOW + timedelta(seconds=1)) is None
            assert tx.request(b"other", NOW - day) is None
        with store.begin(ANA) as tx:
            later = NOW + day + timedelta(seconds=1)
            assert tx.keep_request(b"k\x00", b"third", now=later, oldest=later - day) == b"third"
