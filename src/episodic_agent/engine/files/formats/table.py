"""The one table of foreign formats: how each is known, what it is called, who reads it.

The order counts: the first format that fits is the file's. What none of them fits is tried as messages of
our own (`chat_json`) or as a transcript.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from episodic_agent.engine.files.formats import (
    assistants,
    captions,
    coding,
    discord,
    facebook,
    google_chat,
    imessage,
    journal,
    mail,
    memories,
    messages,
    signal,
    slack,
    telegram,
    whatsapp,
)
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Records
from episodic_agent.engine.files.opening import Opened
from episodic_agent.engine.files.options import ReadingOptions

_OF_ACCOUNTS: Final = ("chatgpt", "claude", "gemini")
Reader = Callable[[Opened, ReadingOptions], Records]


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format that others define: its short name, what people call it, what tells it, and its reader."""

    name: str
    label: str
    fits: Callable[[Glimpse], bool]
    read: Reader

    @property
    def of_account(self) -> bool:
        """Tell an export of a whole account, beside which lie files of its settings that are no talk."""
        return self.name in _OF_ACCOUNTS


_CHATS: Final = (
    ForeignFormat("discord", "Discord export (DiscordChatExporter)", discord.fits, discord.read),
    ForeignFormat("telegram", "Telegram export", telegram.fits, telegram.read),
    ForeignFormat("facebook", "Facebook or Instagram messages", facebook.fits, facebook.read),
    ForeignFormat("google-chat", "Google Chat (Takeout)", google_chat.fits, google_chat.read),
    ForeignFormat("slack-day", "day of a Slack export", slack.fits_day, slack.read_day),
)
FOREIGN: Final = (
    ForeignFormat("chatgpt", "ChatGPT export", assistants.fits_chatgpt, assistants.read_chatgpt),
    ForeignFormat("claude", "Claude.ai export", assistants.fits_claude, assistants.read_claude),
    ForeignFormat("claude-code", "Claude Code session", coding.fits_claude_code, coding.read_claude_code),
    ForeignFormat("codex", "Codex session", coding.fits_codex, coding.read_codex),
    *_CHATS,
    ForeignFormat("gemini", "Gemini chats (Google Takeout)", assistants.fits_gemini, assistants.read_gemini),
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
