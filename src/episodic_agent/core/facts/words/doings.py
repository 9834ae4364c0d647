"""What people call others by, the tongues they speak, and what ails them: roles, kin, medicines."""

from typing import Final

from episodic_agent.core.entities.lists import word_set

# Those whom people name by what they are to them.
ROLES: Final = word_set(
    """
    accountant doctor dentist gp lawyer solicitor landlord landlady teacher coach trainer tutor
    supervisor advisor adviser therapist psychiatrist psychologist physio physiotherapist hairdresser
    barber vet midwife nurse assistant agent editor publisher boss manager colleague coworker deskmate
    client neighbour neighbor cleaner babysitter nanny godfather godmother godson goddaughter best-man
    housemate flatmate roommate apprentice student mentor mentee mechanic optician surgeon oncologist
    cardiologist consultant deputy carer caregiver captain bandmate drummer
    """
)
KIN_PLUS: Final = word_set(
    """
    boy girl lad lass toddler newborn firstborn kiddo hubby missus other-half stepkid foster-son
    foster-daughter foster-child ex-wife ex-husband ex-boyfriend ex-girlfriend ex mama papa abuela oma
    opa grandkid grandchild
    """
)
MEDICINES: Final = (
    r"(?:[a-z]+(?:ine|ol|ide|mab|pril|sartan|statin|pam|lam|cillin"
    r"|mycin|oxin|formin|parin|setron|xaban"
    r"|tidine|zole|triptan|done|gliptin)|lithium|insulin|warfarin"
    r"|prednisone|ritalin|adderall|prozac|zoloft"
    r"|statins|antidepressants|beta[- ]blockers?|ssris?|blood thinners"
    r"|hrt|iron|the pill|antihistamines"
    r"|blood pressure (?:tablets|medication|pills)|thyroid (?:tablets|medication)|steroids)"
)
AILS: Final = (
    r"(?:migraines?|hay ?fever|panic attacks|nosebleeds|seasick|carsick"
    r"|motion sick|travel sick|vertigo"
    r"|heartburn|acid reflux|eczema|asthma|cold sores|cluster headaches|altitude sick)"
)
TONGUES: Final = word_set(
    "english german french spanish mandarin cantonese hindi urdu tamil bengali punjabi"
    " gujarati arabic hebrew swahili yoruba igbo zulu afrikaans tagalog farsi gaelic"
    " basque breton esperanto latin flemish malay javanese pashto telugu marathi creole romansh maltese"
    " nepali tigrinya amharic sinhala quechua"
)
