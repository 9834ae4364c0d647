"""The one table of foreign formats: how each is known, what it is called, who reads it.

The order counts: the first format that fits is the file's. What none of them fits is tried as messages of
our own (`chat_json`) or as a transcript.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.formats import (
    captions,
    chatgpt,
    claude,
    coding,
    discord,
    gemini,
    imessage,
    mail,
    memories,
    messages,
    signal,
    slack,
    telegram,
    whatsapp,
)
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.personal import facebook, google_chat, journal
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

Reader = Callable[[Opened, ReadingOptions], Iterator[Item | Unreadable]]


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format that others define: its short name, what people call it, what tells it, and its reader.

    `of_account` tells an export of a whole account, beside which lie files of its settings that are no talk.
    """

    name: str
    label: str
    fits: Callable[[Glimpse], bool]
    read: Reader
    of_account: bool = False


_CHATS: Final = (
    ForeignFormat("discord", "Discord export (DiscordChatExporter)", discord.fits, discord.read),
    ForeignFormat("telegram", "Telegram export", telegram.fits, telegram.read),
    ForeignFormat("facebook", "Facebook or Instagram messages", facebook.fits, facebook.read),
    ForeignFormat("google-chat", "Google Chat (Takeout)", google_chat.fits, google_chat.read),
    ForeignFormat("slack-day", "day of a Slack export", slack.fits_day, slack.read_day),
)
FOREIGN: Final = (
    ForeignFormat("chatgpt", "ChatGPT export", chatgpt.fits, chatgpt.read, of_account=True),
    ForeignFormat("claude", "Claude.ai export", claude.fits, claude.read, of_account=True),
    ForeignFormat("claude-code", "Claude Code session", coding.fits_claude_code, coding.read_claude_code),
    ForeignFormat("codex", "Codex session", coding.fits_codex, coding.read_codex),
    *_CHATS,
    ForeignFormat("gemini", "Gemini chats (Google Takeout)", gemini.fits, gemini.read, of_account=True),
    ForeignFormat("signal", "Signal chat (signal-export)", signal.fits, signal.read),
    ForeignFormat("signal", "Signal chat (signal-export)", signal.fits_page, signal.read_page),
    ForeignFormat("langchain", "LangChain messages", messages.fits_langchain, messages.read_langchain),
    ForeignFormat("responses", "OpenAI Responses", messages.fits_responses, messages.read_responses),
    ForeignFormat("mem0", "mem0 memories", memories.fits_mem0, memories.read_mem0),
    ForeignFormat("zep", "Zep facts", memories.fits_zep, memories.read_zep),
    ForeignFormat("langgraph-store", "LangGraph store", memories.fits_store, memories.read_store),
    ForeignFormat("captions", "captions", captions.fits, captions.read),
    ForeignFormat("journal", "journal", journal.fits, journal.read),
    ForeignFormat("mail", "mail", mail.fits, mail.read),
    ForeignFormat("imessage", "iMessage chat (imessage-exporter)", imessage.fits, imessage.read),
    ForeignFormat("whatsapp", "WhatsApp chat", whatsapp.fits, whatsapp.read),
)


def foreign(seen: Glimpse) -> ForeignFormat | None:
    """Return the format a file is in, None for one of our own or unknown."""
    return next((kind for kind in FOREIGN if kind.fits(seen)), None)
