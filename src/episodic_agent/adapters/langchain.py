"""LangChain: the history of a chat as a thread of memory, and a retriever over all that is remembered.

Written against langchain-core 1.8.3: `BaseChatMessageHistory`, `BaseRetriever`.
"""

from collections.abc import Sequence
from typing import Any

from episodic_agent.adapters.history import ThreadHistory, item_for, role_of
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.user import UserMemory

with needing("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        convert_to_openai_messages,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever


class EpisodicChatHistory(BaseChatMessageHistory):
    """The messages of one conversation, kept in the thread of its name.

    Messages come back as they were added, tool calls included. One that has an id is kept once; `clear`
    erases the thread.
    """

    def __init__(self, memory: UserMemory, session_id: str) -> None:
        """Bind the history of a conversation to a user's memory; InvalidInput without a user or a name."""
        self._history = ThreadHistory(bound(memory), session_id)

    @property
    def messages(self) -> list[BaseMessage]:
        """Return the messages in order."""
        return [_message(written, o) for written, o in self._history.originals()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Keep messages; what stands already with its id adds nothing."""
        self._history.append([_item(message) for message in messages])

    def clear(self) -> None:
        """Erase the conversation."""
        self._history.clear()


class EpisodicRetriever(BaseRetriever):
    """What `search` finds, as at most `limit` documents: facts first, then the messages that answer.

    `only` are names of threads and channels: nothing said elsewhere is found.
    """

    memory: Any
    limit: int = 5
    only: Any = None

    def model_post_init(self, context: object, /) -> None:
        """Check whose memory it is."""
        super().model_post_init(context)
        bound(self.memory)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        if self.memory.missing or not query.strip():
            return []
        answer = self.memory.search(query, limit=self.limit, observations=self.limit, only=self.only)
        facts = [
            Document(hit.fact.fact, metadata={"kind": "fact", "since": hit.fact.valid_at.isoformat()})
            for hit in answer.facts
        ]
        shown = [(hit, proof) for hit in answer.hits for proof in hit.evidence]
        shown.sort(key=lambda pair: -pair[1].score)  # stable: of those alike the better episode's
        proofs = {proof.observation.id: (hit, proof) for hit, proof in reversed(shown)}
        messages = [
            Document(
                proof.observation.text,
                id=str(identity),
                metadata={
                    "kind": "message",
                    "actor": proof.observation.actor,
                    "at": proof.observation.at.isoformat(),
                    "episode_id": str(hit.episode_id),
                    "episode": hit.title,
                    "score": proof.score,
                },
            )
            for identity, (hit, proof) in reversed(proofs.items())
        ]
        # a fact takes no place from the message that answers best
        facts = facts[: self.limit - 1] if messages else facts
        return [*facts, *messages][: self.limit]


def _item(message: BaseMessage) -> dict[str, Any]:
    fields = convert_to_openai_messages([message])[0]
    return item_for(fields, message_to_dict(message), identity=message.id)


def _message(written: Any, observation: Any) -> BaseMessage:
    if written is not None:
        return messages_from_dict([written])[0]
    kind = AIMessage if role_of(observation) == "assistant" else HumanMessage
    return kind(content=observation.text, id=str(observation.id))
