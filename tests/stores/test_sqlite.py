"""The SQLite store against the common conformance."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

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
from stores.processes import Opener

from episodic_agent.protocols import Store
from episodic_agent.stores.sqlite import SqliteStore


def open_sqlite(path: str) -> Store:
    return SqliteStore(path, synchronous="off")


class TestSqlite(
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
    @pytest.fixture
    def opener(self, tmp_path: Path) -> tuple[Opener, str]:
        return SqliteStore, str(tmp_path / "memory.db")

    @pytest.fixture
    def open_store(self, tmp_path: Path, ready: Path) -> Iterator[Callable[[], Store]]:
        opened: list[Store] = []
        shutil.copy(ready, tmp_path / "memory.db")

        def open_one() -> Store:
            opened.append(open_sqlite(str(tmp_path / "memory.db")))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()
