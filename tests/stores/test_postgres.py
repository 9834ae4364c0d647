"""The PostgreSQL store against the common conformance; on a Citus coordinator too when one is named."""

import os
from collections.abc import Callable, Iterator

import pytest
from stores.conformance import StoreConformance
from stores.conformance_care import CareConformance
from stores.conformance_chains import ChainsConformance
from stores.conformance_erasing import ErasingConformance
from stores.conformance_facts import FactProgramsConformance, FactsConformance, PendingConformance
from stores.conformance_generations import GenerationsConformance
from stores.conformance_index import IndexConformance
from stores.conformance_keys import KeyConformance
from stores.conformance_links import LinksConformance
from stores.conformance_parts import PartsConformance
from stores.conformance_places import PlacesConformance
from stores.conformance_resolution import ResolutionConformance
from stores.conformance_reviews import ReviewsConformance
from stores.conformance_skills import SkillsConformance
from stores.conformance_usage import UsageConformance
from stores.conformance_work import WorkConformance
from stores.conformance_writers import WritersConformance
from stores.postgres_server import open_postgres
from stores.processes import Opener

from episodic_agent.protocols import Store


class PostgresConformance(
    StoreConformance,
    GenerationsConformance,
    IndexConformance,
    LinksConformance,
    ChainsConformance,
    PartsConformance,
    PlacesConformance,
    ReviewsConformance,
    ResolutionConformance,
    WritersConformance,
    KeyConformance,
    UsageConformance,
    WorkConformance,
    SkillsConformance,
    FactsConformance,
    FactProgramsConformance,
    PendingConformance,
    ErasingConformance,
    CareConformance,
):
    """Everything a store must do, in the fresh database the fixture `url` names."""

    __test__ = False

    @pytest.fixture
    def opener(self, url: str) -> tuple[Opener, str]:
        return open_postgres, url

    @pytest.fixture
    def open_store(self, url: str) -> Iterator[Callable[[], Store]]:
        opened: list[Store] = []

        def open_one() -> Store:
            opened.append(open_postgres(url))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()


class TestPostgres(PostgresConformance):
    __test__ = True

    @pytest.fixture
    def url(self, postgres_url: str) -> str:
        return postgres_url


@pytest.mark.slow
@pytest.mark.skipif("EPISODIC_TEST_CITUS_URL" not in os.environ, reason="EPISODIC_TEST_CITUS_URL is not set")
class TestCitus(PostgresConformance):
    __test__ = True

    @pytest.fixture
    def url(self, citus_url: str) -> str:
        return citus_url
