"""What people call others by, the tongues they speak, and what ails them: roles, kin, medicines."""

import re
from typing import Final

from episodic_agent.core.language.mentions.lexicon import is_common
from episodic_agent.data import listed_words

# Those whom people name by what they are to them.
ROLES: Final = listed_words("facts/doings.roles")
KIN_PLUS: Final = listed_words("facts/doings.kin_plus")
_ENDINGS: Final = (
    r"(?:ine|ol|ide|mab|pril|sartan|statin|pam|lam|cillin|mycin|oxin|formin|parin|setron|xaban"
    r"|tidine|zole|triptan|done|gliptin)"
)
MEDICINES: Final = (
    rf"(?:[a-z]+{_ENDINGS}|lithium|insulin|warfarin"
    r"|prednisone|ritalin|adderall|prozac|zoloft"
    r"|statins|antidepressants|beta[- ]blockers?|ssris?|blood thinners"
    r"|hrt|iron|the pill|antihistamines"
    r"|blood pressure (?:tablets|medication|pills)|thyroid (?:tablets|medication)|steroids)"
)


def is_medicine(text: str) -> bool:
    """Tell whether words that `MEDICINES` matched name one; "line" only ends as they do."""
    last = text.casefold().split()[-1]
    return re.search(rf"{_ENDINGS}$", last) is None or not is_common(last)


AILS: Final = (
    r"(?:migraines?|hay ?fever|panic attacks|nosebleeds|seasick|carsick"
    r"|motion sick|travel sick|vertigo"
    r"|heartburn|acid reflux|eczema|asthma|cold sores|cluster headaches|altitude sick)"
)
TONGUES: Final = listed_words("facts/doings.tongues")
