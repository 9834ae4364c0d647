"""What an English sentence asks of the assistant for good: imperatives, bans and wishes, by their grammar."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english.clauses import plain
from episodic_agent.core.facts.grammar import SlotMatch
from episodic_agent.core.facts.words import verbs

_ASKED: Final = (
    r"(?:use|give|answer|reply|respond|write|keep|explain|address|speak|talk|send|show|call|remind"
    r"|flag|include|add|avoid"
    r"|leave|skip|spell|format|convert|quote|list|put|make|tell|ask|assume|stick|translate|recommend"
    r"|suggest|check|sign"
    r"|start|end|begin|mention|offer|describe|cite|schedule|book|default|warn|round|sort|return"
    r"|provide|refer|treat|do(?! not)"
    r"|be|wait|stop|spare|drop|cut|lecture|apologi[sz]e|say|read|order|pick|choose|plan|share|set"
    r"|take|go|get|bring"
    r"|count|double|type|draft|summari[sz]e|number|label|link|repeat|correct|comment|praise|flatter"
    r"|sugar-?coat|invent"
    r"|guess|round|pretend|mix|prefer|measure|remember|stay|hold|come|bother|touch|greet|refer|throw|try|run)"
)
_EVER: Final = re.compile(
    r"\b(?:always|never|ever|from now on|from here on|every ?time|each time|every|any(?!thing else|one"
    r"| good| idea| more|more| tips| chance)|all(?! day| the time| right| ready)|in (?:the )?future"
    r"|going forward"
    r"|whenever|by default|as a rule|at all times|for good|(?:everything|anything|when"
    r"|what) you (?:write|give|send|say|make|draft|answer|suggest|explain|do)"
    r"|for (?:future|next time)|(?:when|if) I (?:ask|say|send|write|paste|want)|for me|with me|to me"
    r"|in general|generally|only|please)\b",
    re.IGNORECASE,
)
_FOREVER: Final = re.compile(
    r"\b(?:always|never|ever|from now on|from here on|every ?time|each time|in (?:the )?future"
    r"|going forward|whenever|by default|as a rule"
    r"|at all times|(?:everything|anything|when|what) you (?:write|give|send|say|make|draft|answer"
    r"|suggest|explain|do)"
    r"|all future|when(?:ever)? I (?:ask|say|send|write|paste|want)|in (?:any|every|all)|for (?:any"
    r"|every|all)|every (?:recipe|answer|reply|mail|email|message|summary|plan))\b",
    re.IGNORECASE,
)
_ONCE: Final = re.compile(
    r"\b(?:this|these|today|tonight|tomorrow|it|him|her|them|attached|above|below|following|here"
    r"|the (?:first|second|third|last|next|other|same|one)"
    r"|again|same|now(?! on)|instead|for (?:the|an?|my) \w+|just the)\b",
    re.IGNORECASE,
)
_FORM: Final = re.compile(
    r"\b(?:emojis?|bullet ?points?|bullets?|tables?|markdown|headings?|headers?|jargon|acronyms"
    r"|exclamation|small ?talk|disclaimers?|caveats|apolog\w+"
    r"|spoilers?|lectur\w+|puns?|metaphors|flattery|hashtags|slang|swearing|greetings|filler|fluff"
    r"|preamble|waffle|baby talk|footnotes|links|dashes"
    r"|answers?|repl(?:y|ies)|responses?|messages?|explanations?|summar(?:y|ies)|mails?|emails?"
    r"|drafts?|code|recipes?|units?|dates?|times|prices?"
    r"|temperatures?|distances?|suggestions?|directions|metric|imperial|celsius|fahrenheit|spelling"
    r"|english|lowercase|capitals|grams|tone|short|brief|blunt|concise"
    r"|pronouns|nickname|name|measurements|weights|sentences|paragraphs?|words|font|print|captions"
    r"|subtitles|clock|currency|euros|pounds|dollars)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?:(?:please|pls|kindly|and|so|also|just|but|ok|okay|like|oh|ooc|note|hey|hi|btw|fyi|for \w+"
    r"|for (?:any|all|every) [\w ]+|in (?:any|every|all) [\w ]+"
    r"|remember(?: that)?|from now on|from here on(?: out)?|in (?:the )?future|going forward"
    r"|by default|as a rule|generally|in general|at all times)\b[,:]? *)+",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(
    r"^(?P<lead>(?:please )?(?:remember|note|save|keep in mind|my rules?|house rules|standing orders?"
    r"|preferences?|for all|for every|always|from now on|in future"
    r"|rules?)\b[^:]{0,50}):\s*(?P<items>.+)",
    re.IGNORECASE,
)
_KINDS: Final = (
    ("ban", re.compile(rf"(?:(?:do not|don't|dont|never|stop|quit|no need to|not)(?: ever"
                       rf"| please)? {_ASKED}(?:ing)?\b)", re.I)),
    ("no", re.compile(r"(?:no(?: more)?|less|fewer|enough) (?!i\b|idea|worries|problem|need|way|one"
                      r"|thanks|longer|clue|rush|matter|doubt|wonder|turning)[a-z]", re.I)),
    ("do", re.compile(rf"(?:(?:always|only|just|ever) )*{_ASKED}\b(?! I\b)", re.I)),
    ("want", re.compile(r"I (?:would (?:rather|prefer|like)|want|need|expect|prefer|like)(?: you to"
                        r"| it if you| that you| (?:my|the|your|all) \w+)\b", re.I)),
    ("rather", re.compile(r"I would rather (?:have|get|you|see|read|hear)\b", re.I)),
    ("noun", re.compile(r"(?!out of\b)(?:just |only |nothing |all |the )?[\w' -]{3,50}?(?:,? (?:only|please"
                        r"|always"
                        r"|every time|at all times|by default)$| in (?:everything|anything|all) you\b)",
                        re.I)),
)  # fmt: skip
_CUT: Final = re.compile(
    r"\s+(?:because|cos|so that|since|as I|thanks|ok|okay|pls|please|if you can|if possible|they|it is"
    r"|I am|I have|that is|without my|and I|or I)\b.*$",
    re.I,
)


def asks(text: str) -> Iterator[tuple[str, SlotMatch]]:
    """Yield what a sentence asks, with how it asks: a ban, a bidding, a wish, a bare noun.

    >>> [(frame, one.value) for frame, one in asks("for code always give me the diff not the whole file")]
    [('ask-do-ever', 'give me the diff not the whole file')]
    >>> [one.value for _, one in asks("Remember for all future trips: aisle seat, no early flights.")]
    ['aisle seat', 'no early flights']
    """
    statement = plain(text).strip(" .!")
    listed = _LISTED.match(statement)
    if listed and _FOREVER.search(f"{listed['lead']} {listed['items']}"):
        for part in re.split(r"\s*[,;]\s*(?:and )?", listed["items"])[:8]:
            if 0 < len(part.split()) <= 12:
                yield "ask-listed", SlotMatch("rule", part.strip(" ."), own=part.strip(" ."))
        return
    parts = _PARTS.split(statement)
    loose = any(_FOREVER.search(part) for part in parts if len(part.split()) <= 4)
    for part in parts:
        pair = _request(part, loose or bool(_FOREVER.search(part)))
        if pair:
            yield pair


_PARTS: Final = re.compile(
    r"\s*[;—–:]\s*|\.\s+|,\s+(?!not\b|never\b|and\b|or\b|but not\b|please\b|ever\b|always\b|including\b)"
)


def _request(part: str, ever: bool) -> tuple[str, SlotMatch] | None:
    so = re.search(
        r"(?:^|\s)so (?:like |please |just )?(?=(?:do not|don't|never|always|no|only|keep|use|skip"
        r"|leave|avoid|make|give|please|flag)\b)",
        part,
    )
    body = part[so.end() :] if so else part
    body = _LEAD.sub("", body)
    kind = next((name for name, pattern in _KINDS if pattern.match(body)), "")
    if kind == "noun" and body.split()[0].casefold() in verbs.KNOWN:
        return None
    if not kind or (kind == "noun" and re.search(r"\b(?:I|is|am|are|was|can|could|will)\b", body)):
        return None
    value = _CUT.sub("", body).strip(" ,.!")
    value = re.sub(
        r"^(?:I would like you to|I want you to|I need you to|I would prefer|I would|always|just)\s+",
        "",
        value,
    )
    if len(value.split()) < 2 or len(value.split()) > 16:
        return None
    return (
        f"ask-{kind}-{'ever' if ever else 'so' if so else 'form' if _FORM.search(value) else 'plain'}",
        SlotMatch("rule", value, own=value),
    )


def asks_once(text: str) -> bool:
    """Tell whether a wish points at one thing: "this draft", "today", "the second one"."""
    return bool(_ONCE.search(text))
