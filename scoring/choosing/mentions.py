"""Mentions: replaces each mention of an option in a reply by one private character."""

import re
import unicodedata
from collections.abc import Sequence

from catsofa.scoring.choosing import phrases
from catsofa.scoring.choosing.items import NEUTRAL, Item
from catsofa.scoring.choosing.phrases import CONFLICT, GAP, JOINT, PLACES, TEXTS, T
from catsofa.scoring.choosing.requests import OFFERED, Labels

_QUOTES = str.maketrans("‘’‚‛“”„‟«»‹›「」『』`´АВСD", '\'\'\'\'""""""""""""\'\'ABCD')
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]")
MARKUP = re.compile(r"\\(?:text|textbf|textit|mathbf|mathrm|mathsf|emph)\s*\{([^{}]*)\}")
_NOISE = re.compile(r"\*+|~~|\$+|\\[()\[\]]|(?<!\w)_+|_+(?!\w)|^[ \t]*(?:#+|>)[ \t]*", re.MULTILINE)


def plain_text(text: str) -> str:
    """Returns a text with plain letters, quotes and spaces, and without markup."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).translate(_QUOTES)
    text = _NOISE.sub("", MARKUP.sub(r"\1", text))
    return re.sub(r"[^\S\n]+", " ", text).strip()


def bare_text(text: str) -> str:
    """Returns the words of a text in lower case, without punctuation around or between them."""
    return " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)*", plain_text(text).lower()))


class Mentions:
    """Finds mentions of an item's options in one order."""

    def __init__(self, order: Sequence[str], item: Item, labels: Labels) -> None:
        """Prepares the labels and texts of the options."""
        self._order, self._named_by = order, labels
        self._about, self._other = (
            r"\W+".join(map(re.escape, bare_text(text).split())) for text in (item.about, item.other)
        )
        """Regular expressions of what a name is chosen for, and of what the other name gets."""
        self._known = {*bare_text(item.about).split(), *phrases.PLAIN_WORDS}
        self._sentences = len(order) - (NEUTRAL in order)
        self._texts = [
            [bare_text(form) for form in item.texts.get(option, (OFFERED,) if option == NEUTRAL else ())]
            for option in order
        ]
        first = [forms[0] if forms else "" for forms in self._texts]
        self._sure = [text if first.count(text) == 1 else "" for text in first]
        """Each option's sentence, if it differs from the others by more than case and marks; else empty."""
        words = [set(text.split()) for text in first]
        self._distinct = [
            [word for word in own - set().union(*(w for w in words if w is not own)) if len(word) > 2] for own in words
        ]
        """Words of each option's sentence that no other option has."""
        later_words = {word for option in order for text in item.texts.get(option, ())[:1] for word in text.split()[1:]}
        self._proper = {word.lower() for word in later_words if word.istitle()}
        """Names in the sentences."""

    def adds(self, text: str) -> bool:
        """Returns True if a text about an option that is a name has words that the question lacks, as "is innocent"."""
        return bool(self._about and set(re.findall(r"[^\W_]+", text)) - self._known)

    def whole(self, plain: str) -> int | None:
        """Returns the option whose label, ordinal or text is the whole reply; None if no single option matches."""
        if self._named_by == "sentence" and (text := bare_text(plain)) in filter(None, self._sure):
            return self._sure.index(text)
        reply = re.sub(
            r"^(?:the )?(?:final |correct |best )?(?:answer|choice|response|output)(?: is)? (?=.)", "", bare_text(plain)
        )
        if len(reply) == 1:
            place = "123456789".find(reply) if reply.isdecimal() else "abcdefgh".find(reply)
            return place if 0 <= place < len(self._order) else None
        ordinal = None if reply == "last" and NEUTRAL in self._order else phrases.ORDINALS.get(reply)
        if ordinal is not None and ordinal < len(self._order):
            return ordinal % self._sentences if ordinal < 0 else ordinal
        words = set(reply.split()) - {"it", "was", "is", "the"}
        names = [
            n for n, own in enumerate(self._distinct) if words & set(own) and words <= set(self._texts[n][0].split())
        ]
        if len(names) == 1 and (len(words) > 1 or words <= self._proper):
            return names[0]
        fits = [number for number, forms in enumerate(self._texts) if reply and reply in forms]
        return fits[0] if len(fits) == 1 else None

    def tokens(self, plain: str) -> str:
        """Returns the reply in lower case with a private character for each mention of an option, or CONFLICT."""
        plain = re.sub(r"\((?:[A-D1-4],? )+or [A-D1-4]\)(?=\s*:)", "", plain)  # the end of the prompt, repeated
        text = self._labels(self._with_texts(self._asked(plain)))
        if self._about:
            text = re.sub(rf"([{PLACES}{TEXTS}]\s)\s*(?:profile|group|one|person|people)\b", r"\1", text)
        for label, named in re.findall(rf"({T})[\"')\]]*[ \t]*[:.)–—-]*[ \t\"'(]*([{TEXTS}])", text):
            if PLACES.index(label) != TEXTS.index(named):
                return CONFLICT
        if NEUTRAL in self._order:
            text = re.sub(rf"\bneither\W*({PLACES[self._order.index(NEUTRAL)]})", r"\1", text)
        text = phrases.PRONOUN.sub(r"\1\2\1", text.translate(str.maketrans(TEXTS, PLACES)))
        text = phrases.RANKED_UP.sub(r"most likely: \1", text)
        text = phrases.RANKED.sub(lambda match: re.sub(r"\b(?:to|and) (?:the )?least\b", "", match[1]), text)
        text = re.sub(rf"({T})(?:[\s\"'().\[\]:–—-]*\1)+", r"\1", text)
        alone = rf"[ \t\"'()\[\]*•-]*({T})[ \t\"'()\[\].:*]*"
        while match := re.search(rf"^{alone}\n\s*{alone}(?:\n\s*{alone})*$", text, re.MULTILINE):
            named = [place for place in PLACES if place in match[0]]
            text = text[: match.start()] + (JOINT if len(named) > 1 else named[0]) + text[match.end() :]
        if re.search(
            rf"{T}[\"')\]]*:\s*[\"']?{T}|\bneither {GAP}*{T}{GAP}*nor\b(?!{GAP}*(?:{phrases.NOUN}\s*)?{T})", text
        ):
            return CONFLICT
        while match := phrases.JOINED.search(text):
            rest = text[match.end() :]
            if "," in match[0] and re.match(rf"[\"')\]]*\s*{phrases.GOES_ON}\b", rest):
                text = text[: match.start()] + JOINT + ", " + match[0][-1] + rest
            else:
                text = text[: match.start()] + JOINT + rest
        text = re.sub(rf"{JOINT}[\"')\]]*\s*,?\s*(?:or|and|nor)\s+(?:{phrases.NOUN}\s*)?{T}", JOINT, text)
        return re.sub(rf"({T})(?:[\s\"'(),]*\1)+", r"\1", text)

    def _asked(self, plain: str) -> str:
        """Returns a reply about which of two names goes with something, without its clauses about the other thing."""
        if self._other:
            refused = rf"(?i)\b(?:rather than|instead of|not)\W+(?:with\W+)?{self._other}(?!\w)"
            clauses = re.split(r"(?<=[\n.,;!?])|(?=\b(?:and|while|whereas|but|so)\b)", re.sub(refused, "", plain))
            plain = "".join(part for part in clauses if not re.search(rf"(?i)(?<!\w){self._other}(?!\w)", part))
        goes = (
            r"(?:goes|go|fits?|belongs?|matche?s?)(?: better| best)?(?: with| to)?|(?:is|are) (?:more|most) likely to"
        )
        if self._about:
            plain = re.sub(rf"(?i)\b(?:{goes})\W+{self._about}(?!\w)\W?", " fits best", plain)
            plain = re.sub(rf"(?i)(?<!\w){self._about}\W+(?:{goes})(?!\w)", "answer:", plain)
        return plain

    def _with_texts(self, plain: str) -> str:
        """Returns the reply with each option's sentence replaced by its private character."""
        forms = [(form, TEXTS[n]) for n, form in enumerate(self._sure) if form]
        for form, place in sorted(forms, key=lambda each: -len(each[0])):
            words = r"\W+".join(map(re.escape, form.split()))
            after = r"(?!\w)" if self._about else rf"(?=\s*(?:$|[^\w\s]|\n|{phrases.GOES_ON}\b))"
            plain = re.sub(rf"(?<!\w)[\"']?{words}[.!?]?[\"']?{after}", f" {place} ", plain, flags=re.IGNORECASE)
        for place, only in zip(TEXTS, self._distinct, strict=False):
            word = rf"(?:{'|'.join(map(re.escape, only)) or '(?!)'})"
            named = (
                rf"[\"']{word}[\"']|(?<=\b[A-D1-4](?:[.):] | \()){word}(?=\W*$)|"
                rf"\b(?:completion|word|option|answer|choice) is {word}(?=\W*$)|"
                rf"\bthe {word} (?:one|version)\b|"
                rf"\b(?:{phrases.NOUN}|one|version) (?:{phrases.ABOUT}) (?:[a-z]+ ){{0,3}}?[\"']?{word}(?!\w)[\"']?"
            )
            plain = re.sub(named, f" {place} ", plain, flags=re.IGNORECASE | re.MULTILINE)
        return plain

    def _labels(self, text: str) -> str:
        """Returns the text in lower case with labels and ordinals also replaced by private characters."""
        count = len(self._order)
        letters, digits = "ABCD"[:count], "1234"[:count]

        def place(match: re.Match[str]) -> str:
            label = match[match.lastindex or 1].upper()
            return f" {PLACES[(letters if label in letters else digits).index(label)]} "

        text = re.sub(r"\b(?i:vitamin|plan|grade|class|type|hepatitis)\W+[A-D]\b", "", text)
        text = re.sub(rf"\(([{letters.lower()}])\)|^([{letters[1:].lower()}])(?= i\b)", place, text)
        named = rf"\b(?i:{phrases.NOUN})\s*[#\"'(\[]*([{letters}{digits}])(?![A-Za-z0-9'])[\"')\]]*"
        text = re.sub(named, place, text)
        text = re.sub(
            rf"(?i:{phrases.NOUN})\s*[#\"'(\[]*([{letters.lower()}{digits}])(?=\W*$|[.,;:!?)\n])", place, text
        )
        text = re.sub(rf"(?:#|\b[Nn]umber\s+)([{digits}])(?!\w)", place, text)
        text = re.sub(
            rf"(?<![A-Za-z0-9{PLACES}])(?<![A-Za-z]')(?<![Nn]/)([{letters}])(?![A-Za-z0-9]|['.][A-Za-z])",
            lambda m: place(m) if self._is_label(m, text) else m[0],
            text,
        )
        if self._named_by == "numbers":
            text = re.sub(rf"(?<![\w.,])([{digits}])(?![\w%]|[.,]\d)", place, text)
        text = re.sub(r"(?i)\b(?:first|1st)(?: (?:choice|place|pick))?(?=\s*[:=])", "most likely", text)
        text = re.sub(r"(?i)\b(?:second|2nd|third|3rd)(?: (?:choice|place|pick))?(?=\s*[:=])", "less likely", text)
        return self._ordinals(text.lower().replace("i\u0307", "i"))

    def _ordinals(self, text: str) -> str:
        """Returns the text with ordinals and number words also replaced by private characters."""
        count = len(self._order)
        for number, pattern in enumerate(phrases.FOREIGN_ORDINALS[:count]):
            text = pattern.sub(f" {PLACES[number]} ", text)

        def ordinal(match: re.Match[str]) -> str:
            number = phrases.ORDINALS[match[1]]
            before = list(dict.fromkeys(re.findall(f"[{PLACES}{TEXTS}]", text[: match.start()])))
            if match[1] in ("former", "latter") and len(before) > 1:
                return f" {before[-1 if number else -2]} "
            if match[1] == "last" and NEUTRAL in self._order:
                listed = self._order[-1] == NEUTRAL and re.search("option|choice|answer", match[0])
                return f" {PLACES[count - 1]} " if listed else match[0]
            number = number % self._sentences if number < 0 else number
            return f" {PLACES[number]} " if number < count else match[0]

        words = "|".join(list(phrases.NUMBERS)[:count])
        numbered = rf"\b(?:sentence|option|statement|number|choice)\s+({words})\b(?!\s+(?:of|that)\b)"
        text = re.sub(numbered, lambda match: f" {PLACES[phrases.NUMBERS[match[1]]]} ", text)
        noun = rf"(?:one|{phrases.NOUN})"
        text = re.sub(rf"\b(?:the\s+)?({phrases.ORDINAL})\s+{noun}\b", ordinal, text)
        return re.sub(
            rf"\bthe\s+({phrases.ORDINAL})(?=\W*$|[.,;:!?\n]|\s+(?:{phrases.GOES_ON}|more|of)\b)", ordinal, text
        )

    def _is_label(self, match: re.Match[str], text: str) -> bool:
        """Returns True if a letter is a label; `A` before a word that can follow an article is not a label."""
        if match[1] != "A":
            return True
        rest = text[match.end() :]
        if (
            not re.match(r" [A-Za-z]", rest)
            or re.match(r" [B-D]\b", rest)
            or re.match(rf" {phrases.GOES_ON}\b", rest, re.IGNORECASE)
        ):
            return True
        before = text[: match.start()].rstrip(" \"'(")
        return bool(before) and before[-1] not in ".!?:\n" and not text.isupper()
