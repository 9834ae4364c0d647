"""`episodic trace`: the tree for people, JSON for scripts, words only where asked for."""

from builders.commands import Run


def test_a_turn_is_shown_as_a_tree(run: Run) -> None:
    receipt = run("add", "the saffron is out", "--channel", "sms", "--json").json
    run("flush")
    shown = run("trace", receipt["id"]).out
    for line in (
        "turn sms ",
        "├── add ",
        "│   ├── resolution ",
        "│   └── boundary ",
        "└── encode ",
        "opens",
        "manual",
    ):
        assert line in shown
    assert "saffron" not in shown
    assert "saffron" in run("trace", receipt["id"], "--text").out
    assert shown == run("trace", receipt["id"][:18]).out


def test_scripts_get_the_tree_as_json(run: Run) -> None:
    receipt = run("add", "the saffron is out", "--thread", "chat", "--json").json
    answer = run("trace", "chat:0", "--json").json
    assert set(answer) == {"turn", "thread", "thread_id", "messages", "work"}
    assert (answer["turn"], answer["thread"]) == (receipt["id"], "chat")
    (message,) = answer["messages"]
    assert set(message) == {"id", "seq", "at", "actor", "kind", "text"}
    assert message["text"] is None
    add = answer["work"][0]
    assert set(add) == {"name", "at", "start", "seconds", "attributes", "verdicts", "children"}
    assert [one["name"] for one in add["children"]] == ["words", "echo", "embed", "store", "boundary"]
    (check,) = add["children"][-1]["verdicts"]
    assert set(check) == {
        "type", "verdict", "score", "threshold", "policy", "confidence", "decision", "detail"
    }  # fmt: skip


def test_what_is_no_turn_is_one_line_with_the_remedy(run: Run) -> None:
    run("add", "hello", "--thread", "chat")
    assert "THREAD:SEQ" in run("trace", "nothing").error
    assert run("trace", "chat:7").code == 3
    assert run("trace", "zzz").code == 2
