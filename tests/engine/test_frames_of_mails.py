"""Mails as people write them: no greeting, signature or foot titles an episode or becomes a fact; all is kept."""

from email.message import EmailMessage
from pathlib import Path

import pytest
from builders.commands import Run

# who, subject, greeting, what is said, signature
MAILS = {
    "en": ("Harbour Gym", "Membership", "Dear Ms Lund,",
           "your membership moves to Mill Lane on 3 May.\nThe pool stays closed until June.",
           "Kind regards\nHarbour Gym front desk\n\nThis e-mail is confidential and lasts for you alone."),
    "fr": ("Claire Dubois", "Travaux", "Bonjour Madame Lund,",
           "le plombier passe mardi matin.\nIl faut couper l'eau avant huit heures.",
           "Bien cordialement,\nClaire Dubois\nRégie du Lac, 12 rue des Bains\n01 44 55 66 77"),
    "ru": ("Ирина Соколова", "Занятие", "Здравствуйте, Анна,",
           "занятие переносится на четверг.\nПожалуйста, возьмите с собой ноты.",
           "С уважением,\nИрина Соколова\nМузыкальная школа"),
    "de": ("Werkstatt Nord", "Reparatur", "Sehr geehrte Frau Lund,",
           "Ihr Fahrrad ist am Montag fertig.\nDie Kette haben wir getauscht.",
           "I. A. Jens Petersen"),
    "zh": ("王芳", "课程", "林女士，", "课程改到星期四下午。\n请带上课本。", "王芳"),
}  # fmt: skip


def mailbox(folder: Path, mails: list[EmailMessage]) -> Path:
    path = folder / "all.mbox"
    parts = [b"From x@x.example Mon Mar  2 09:00:00 2026\n" + mail.as_bytes() + b"\n\n" for mail in mails]
    path.write_bytes(b"".join(parts))
    return path


def mail(name: str, subject: str, text: str, *, day: int = 2, address: str = "a@x.example") -> EmailMessage:
    message = EmailMessage()
    message["From"] = f"{name} <{address}>"
    message["To"] = "lund@y.example"
    message["Date"] = f"Mon, {day} Mar 2026 09:00:00 +0100"
    message["Message-ID"] = f"<{subject.encode().hex()}{day}@x>"
    message["Subject"] = subject
    message.set_content(text)
    return message


def read_back(run: Run) -> list[tuple[str, str]]:
    cards = run("episodes", "--json").json["episodes"]
    return [(card["title"] + "\n" + card["summary"], card["episode_id"]) for card in cards]


@pytest.mark.parametrize("language", MAILS)
def test_a_greeting_and_a_signature_are_kept_and_say_nothing(run: Run, tmp_path: Path, language: str) -> None:
    name, subject, greeting, body, signature = MAILS[language]
    text = f"{greeting}\n\n{body}\n\n{signature}"
    run("import", mailbox(tmp_path, [mail(name, subject, text)]))
    run("flush")
    ((words, identity),) = read_back(run)
    facts = " ".join(fact["fact"] for fact in run("facts", "list", "--json").json["facts"])
    for line in (greeting, *signature.splitlines()):
        if line.strip() and line != name:  # whose words they are is told
            assert line.rstrip(",，") not in words.replace(f"{name} said", "")
            assert line not in facts
    first = body.split("\n")[0].rstrip(".。")
    assert first.casefold() in words.casefold()
    assert run("show", identity, "--json").json["messages"][0]["text"] == text


def test_what_stands_below_several_mails_of_a_sender_is_a_foot(run: Run, tmp_path: Path) -> None:
    foot = (
        "Lakeside Ltd trades in boats only.\nWe always answer within one day.\nRegistered in Bergen, no. 4471"
    )
    said = [
        "The blue canoe is sold.",
        "We keep the red canoe for you until Friday.",
        "The red canoe is paid.",
    ]
    mails = [
        mail("Sales", f"Canoe{n}", f"{text}\n\n{foot}", day=2 + 3 * n, address="sales@lake.example")
        for n, text in enumerate(said)
    ]
    alone = mail(
        "Ola Nordmann", "Hut", "We always answer within one day.\nThe hut is free.", address="o@x.example"
    )
    run("import", mailbox(tmp_path, [*mails, alone]))
    run("flush")
    cards = read_back(run)
    assert sum("canoe" in words for words, _ in cards) == len(said)
    assert not [
        words for words, _ in cards if "canoe" in words and ("trades" in words or "Registered" in words)
    ]
    assert [words for words, _ in cards if "answer within one day" in words and "hut" in words.lower()]
    facts = " ".join(fact["fact"] for fact in run("facts", "list", "--json").json["facts"])
    assert "trades in boats" not in facts
    assert "4471" in run("search", "in which number is Lakeside registered in Bergen?").out


def test_a_mail_that_is_nothing_but_its_frame_stays_as_it_is(run: Run, tmp_path: Path) -> None:
    run("import", mailbox(tmp_path, [mail("Ana Berg", "Hi", "Dear Bo,\n\nAna")]))
    run("flush")
    ((words, _),) = read_back(run)
    assert words.strip()


ONE_LINE = {
    "Dieter Keller (Brandt)": ("Dear Ms Lund,", "our engineer comes on Thursdays between 8 and 10.",
                               "Kind regards, Dieter Keller, Brandt Oven Service"),
    "Nadia": ("Hello Brandt team,", "our deck oven in Mill Lane trips the fuse.", "Regards, Nadia Haddad"),
    "Mrs Okafor": ("Dear Ms Lund,", "Sami goes to maths club on Wednesdays.",
                   "Kind regards, B. Okafor, head of Year 8"),
    "Joanne": ("Hi Ana,", "we deliver flour every Tuesday.", "Joanne Pike, Fenwick Mills"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_LINE)
def test_a_mail_in_one_line_has_a_frame_too(run: Run, tmp_path: Path, name: str) -> None:
    greeting, body, signature = ONE_LINE[name]
    text = f"{greeting} {body} {signature}"
    run("import", mailbox(tmp_path, [mail(name, "News", text)]))
    run("flush")
    ((words, identity),) = read_back(run)
    facts = " ".join(fact["fact"] for fact in run("facts", "list", "--json").json["facts"])
    for line in (greeting, signature):
        assert line.rstrip(",") not in words
        assert line.rstrip(",") not in facts
    assert body.rstrip(".").casefold() in words.casefold()
    assert run("show", identity, "--json").json["messages"][0]["text"] == text
