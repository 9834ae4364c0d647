"""Every setting is read, and nothing that is none passes for one."""

from dataclasses import fields
from pathlib import Path

import pytest

from episodic_agent.errors import InvalidInput
from episodic_agent.settings import Settings, read_settings

HOME = Path("/home/ana")


@pytest.mark.parametrize("field", [f.name for f in fields(Settings)])
def test_every_field_is_an_environment_variable(field: str) -> None:
    number = field in {
        "threads",
        "connections",
        "thread_timeout",
        "llm_concurrency",
        "trace_days",
        "tool_budget",
        "message_bytes",
        "unpacked_bytes",
        "unpacked_ratio",
    }
    value = "7" if number else "something"
    settings = read_settings({f"EPISODIC_{field.upper()}": value}, HOME)
    assert getattr(settings, field) == (7 if number else "something")
    others = {f.name for f in fields(Settings)} - {field}
    assert all(getattr(settings, name) == getattr(read_settings({}, HOME), name) for name in others)


def test_the_defaults_need_no_environment() -> None:
    settings = read_settings({"PATH": "/bin", "DATABASE_URL": "postgres://host"}, HOME)
    assert (settings.db, settings.user, settings.space) == ("episodic.db", "", "default")
    assert (settings.embedder, settings.policy, settings.synchronous) == ("auto", "default", "normal")
    assert settings.cache == str(HOME / ".cache" / "episodic-agent")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("EPISODIC_USR", "EPISODIC_USER"),
        ("EPISODIC_EMBEDER", "EPISODIC_EMBEDDER"),
        ("EPISODIC_DBB", "EPISODIC_DB"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_name(name: str, nearest: str) -> None:
    with pytest.raises(InvalidInput, match=rf"unknown setting {name}; did you mean {nearest}\?"):
        read_settings({name: "x"}, HOME)


def test_a_setting_like_no_other_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"unknown setting EPISODIC_QQQQ.*known: EPISODIC_CACHE, EPISODIC_CALIBRATION, EPISODIC_CHAIN_POLICY, EPISODIC_CHANNELS",
    ):
        read_settings({"EPISODIC_QQQQ": "x"}, HOME)


def test_names_of_the_tests_own_are_let_pass() -> None:
    assert read_settings({"EPISODIC_TEST_FAULT": "before-commit"}, HOME) == read_settings({}, HOME)


@pytest.mark.parametrize("value", ["-1", "two", "", "1.5", "²"])
def test_a_number_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="EPISODIC_THREADS must be a whole number"):
        read_settings({"EPISODIC_THREADS": value}, HOME)


def test_the_server_of_models_falls_back_to_the_common_names_and_turns_nothing_on() -> None:
    common = {"OPENAI_API_KEY": "sk-a", "OPENAI_BASE_URL": "http://a/v1"}
    settings = read_settings(common, HOME)
    assert (settings.openai_api_key, settings.openai_base_url) == ("sk-a", "http://a/v1")
    assert settings.embedder == "auto"
    own = read_settings({**common, "EPISODIC_OPENAI_API_KEY": "sk-b", "EPISODIC_OPENAI_BASE_URL": ""}, HOME)
    assert (own.openai_api_key, own.openai_base_url) == ("sk-b", "")
    assert "sk-b" not in repr(own)
