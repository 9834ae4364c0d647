"""A language model that is another one, or none, for each stage."""

from collections.abc import Mapping

from episodic_agent.errors import ProviderUnavailable
from episodic_agent.protocols import LanguageModel, Reply
from episodic_agent.schemas import Json


class StagedModel:
    """Pass each stage's prompts to the model chosen for it, the others to `baseline`; None is no model."""

    def __init__(self, baseline: LanguageModel | None, stages: Mapping[str, LanguageModel | None]) -> None:
        self._baseline = baseline
        self._stages = dict(stages)
        self.name = baseline.name if baseline is not None else "none"

    def model_of(self, stage: str) -> LanguageModel | None:
        """Return who answers a stage."""
        return self._stages.get(stage, self._baseline)

    def complete(self, prompt: str, schema: Mapping[str, Json], stage: str) -> Reply:
        """Return the reply of the stage's model; ProviderUnavailable where the stage has none."""
        model = self.model_of(stage)
        if model is None:
            raise ProviderUnavailable(f"no language model for {stage}; name one in EPISODIC_LLM_STAGES")
        return model.complete(prompt, schema, stage)
