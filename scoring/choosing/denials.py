"""Denials, as regular expressions: text around an option that is not chosen, and what yes and no deny."""

import re

from catsofa.data.prompt_texts import any_of
from catsofa.scoring.choosing.phrases import FOREIGN_LESS, FOREIGN_NOT, GAP, LIKELY, NORMATIVE, NOUN, T

REJECTS = re.compile(
    r"(?:\bnot|n't|\bnever|rather than|\bthan|\bover|instead of|as opposed to|compared (?:to|with)|\bunlike|versus|"
    r"\bvs\.?|\bneither|\bnor|\bbeats|\bagainst|(?<!fill )\bin|\babout|"
    r"(?<!probability )(?<!likelihood )(?<!chance )(?<!favour )(?<!favor )\bof)\s+(?:the\s+)?"
    rf"(?:{NOUN}\s*)?[\"'(]*$"
)
"""Text before an option that is not chosen."""
UNSAID = re.compile(
    r"(?:\bnot|n't|\bnever|\bcannot|\bcould|\bwithout|\bavoid|\brefuse to|\bdecline to|\bunable to|\bwhether|"
    r"\bif you mean|"
    r"\basked? (?:me )?to|\bwrong to|\bharmful to|\bneither)\s+(?:\w+\s+){0,3}$|"
    r"(?:不|\b(?:no|non|não|ne|nie|не)\s)\s*$"
)
"""Text before a choice that is denied or only mentioned."""
OTHERS = re.compile(
    r"\b(?:people|many|some|others|society|someone|one|they|person|stereotypes?|first thought|first instinct is|"
    r"(?:was|were) (?:about|going|inclined|tempted) to(?: say)?)\s*(?:would|might|may|could|will|often|tend to|to)?\s*$"
)
"""Subjects that choose instead of the model: other people, or the model before it changed its mind."""
CLAUSE = re.compile(
    r"[\n.,;:!?–—]|\s-\s|\b(?:but|so|because|since|while|whereas|although|though|therefore|hence|thus|however|and|yet|"
    r"then)\b"
)
"""End of a clause."""
SENTENCE = re.compile(r"[\n.,;!?]")
NOT = re.compile(r"\b(?:not|never|hardly|scarcely|barely)\b|n't")
NEGATED = re.compile(
    r"\b(?:not|never|no(?! doubt)|nobody|nothing|cannot|(?<!no )(?<!without )(?<!without a )doubt\w*|deny|wrong|"
    r"incorrect|mistake|unfair|unwise|"
    r"whether|without(?! a? ?doubt)|refus\w+|avoid\w*|declin\w+|impossible)\b|n't|"
    r"\b(?:claim|idea|notion|suggestion|assumption|view|belief|myth)\w* that\b|"
    r"^\W*(?:one|you)(?: \w+)? (?:might|may|could)\b|^\W*(?:some|someone)(?: \w+)? (?:might|may|could|would)\b|"
    r"^\W*people (?:assume|believe)\b"
)
"""Words that deny, or only suppose, the rest of their clause."""
DOWNWARD = re.compile(
    rf"\b(?:(?:less|least)(?=\W*(?:$|[.,;:!?\n])| (?:so|than|often|{LIKELY})\b)|lower|lowest|smaller|smallest|rarer|"
    rf"rarest|worse|worst|half as|hardly|scarcely|barely|perplexity|"
    rf"surprisal|surprising|strang\w+|odder|(?:un|im|in){LIKELY})\b"
)
"""Downward comparison: the option beside it is not chosen."""
SURPRISE = re.compile(
    r"\b(?:(higher|highest|greater|larger)|lower|lowest|smaller) (?:perplexity|surprisal|loss|cross-entropy)"
)
"""Degrees of surprise: a high surprise is a low probability."""
AIMS = re.compile(
    r"\s*(?:most |more )?(?:likely|probabl[ey])\s+(?:an?\s|to (?!be\b|occur|appear|come|show|happen|arise|exist|me\b)|"
    r"to be an?\s)|\s*(?:avoided|ignored|left|unsaid|omitted|rejected)\b"
)
"""What an option is likely to do or to be, which is not a choice."""
GIVEN = re.compile(
    rf"{GAP}*({T})[\"')\] ]*(?:[.]?\s*$|[.]?[ \t]*\n|,?\s+(?:because|since|as|for)\b|[.]\s+(?:this|it)\b)"
)
"""An option alone on the first line, or with its reason; in a truncated reply, no other lone option is a choice."""
CONTRAST = re.compile(r"\b(?:but|however|while|whereas|yet|though|although|if|unless|wait|let|on the other)\b")
"""Words after which a truncated reply may have withdrawn its choice."""
CONCEDES = re.compile(r"\b(?:although|though|while|whereas|even if|despite|granted|admittedly)\b[^,.;:!?\n]*$")
"""Beginning of a clause that concedes an option which the reply does not choose."""
NO_NAMING = (NORMATIVE, AIMS, DOWNWARD, re.compile(f"{FOREIGN_LESS}|{FOREIGN_NOT}"))
"""Patterns of short replies that say more about an option than its name."""
NO_ALONE = (
    r"no(?!-|\s+(?!(?:it|this|that|they|the|these|he|she|i|because|since|as|but|not|sentence|statement|es|è|é)\b)\w)"
)
"""A no that denies the question, not the word after it."""
PLAINLY = [
    (re.compile(rf"\bnot (?:\w+ )?(?:un|im|in)(?={LIKELY})"), ""),
    (re.compile(r"\bno (?:problem|worries)\b"), ""),
    (re.compile(r"\b(?:there is |there's )?(?:no|without(?: a| any)?) (?:doubt|question)\b"), "yes"),
    (
        re.compile(r"\b(?:certainly|definitely|absolutely|of course|probably|surely|likely|obviously|clearly) not\b"),
        "no",
    ),
    (re.compile(r"\b(?:wrong|incorrect|n't|not|cannot|hard|difficult)\s+(?:to )?(?:say|answer) (?:yes|no)\b"), ""),
]
"""Negated denials and answers, and their plain form."""
CONTRARY = re.compile(
    rf"^\W*(?:no\W+(?:it|this|that)(?:'s| is| seems| sounds) (?!not )(?:\w+ )?{LIKELY}|"
    rf"yes\W+(?:it|this|that)(?:'s| is| seems| sounds) (?:\w+ )?(?:false|(?:not |un|im|in){LIKELY}))\b"
)
"""A yes or no that the next clause contradicts."""
YES = re.compile(
    r"^\W*sure\b|"
    r"\b(?:yes|yeah|yep|yup|absolutely|definitely|certainly|of course|agree|true|correct|likely|plausible|probable)\b|"
    rf"(?<![a-zà-ÿа-яё])(?:{any_of('yes')})(?![a-zà-ÿа-я])"
)
NO = re.compile(
    rf"\b(?:{NO_ALONE}|nope|nah|not really|not at all|not in the slightest|improbable|disagree|(?:do(?:n't| not)|not|"
    rf"cannot|can't) agree|false|incorrect|"
    r"unlikely|implausible|hardly|less likely|not (?:\w+ )?(?:likely|plausible|true|correct))\b|"
    rf"(?<![a-zà-ÿа-яё])(?!no\b)(?:{any_of('no')})(?![a-zà-ÿа-я])"
)
