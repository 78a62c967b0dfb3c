"""English as a Language: its forms come from dictionaries and rules in code, not from tables."""

from catsofa.data.language.articles import article
from catsofa.data.language.inflection import plural_noun, plural_verb, singular_noun
from catsofa.data.languages.language import Language
from catsofa.data.languages.nouns import Noun, Refusal


class English(Language):
    """English: nouns have a plural and no gender, adjectives do not agree, `a` becomes `an` before its word."""

    def noun(self, word: str) -> Noun | Refusal:
        """Any noun, given in singular or plural, with the other form from the dictionary."""
        one = singular_noun(word)
        if one and plural_noun(one) == word:
            return Noun(one, {"sg": one, "pl": word})
        return Noun(word, {"sg": word, "pl": plural_noun(word)})

    def thing(self, word: str) -> Noun | Refusal:
        """The same as `noun`."""
        return self.noun(word)

    def plural(self, noun: str, gender: str = "") -> str | Refusal:
        """The dictionary's plural."""
        return plural_noun(noun)

    def agree(self, adjective: str, gender: str, number: str, case: str = "", after: str = "none") -> str | Refusal:
        """The adjective unchanged."""
        return adjective

    def finite(self, verb: str, number: str) -> str | Refusal:
        """A verb in the third person singular, made plural if `number` is pl."""
        first, space, rest = verb.partition(" ")
        return plural_verb(first) + space + rest if number == "pl" else verb

    def join(self, words: list[str]) -> str:
        """Words joined by spaces, with each a or an adapted to the next word."""
        pairs = zip(words, [*words[1:], ""], strict=True)
        return " ".join(article(after) if word in ("a", "an") and after else word for word, after in pairs if word)
