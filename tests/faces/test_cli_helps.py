"""The list of commands, which imports none of them."""

from episodic_agent.faces.cli.main import HELPS, cli


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    assert {name: cli.commands[name].get_short_help_str(200) for name in cli.commands} == HELPS
