"""English on the interface of languages: its forms come from dictionaries and rules in code, not from tables."""

from catsofa.data.language.articles import article
from catsofa.data.language.inflection import plural_noun, plural_verb, singular_noun
from catsofa.data.languages.language import Language
from catsofa.data.languages.nouns import Noun, Refusal


class English(Language):
    """English: nouns have a plural and no gender, adjectives do not agree, `a` becomes `an` before its word."""

    def noun(self, word: str) -> Noun | Refusal:
        """Any noun, given in either number, with the dictionary's other one."""
        one = singular_noun(word)
        if one and plural_noun(one) == word:
            return Noun(one, {"sg": one, "pl": word})
        return Noun(word, {"sg": word, "pl": plural_noun(word)})

    def thing(self, word: str) -> Noun | Refusal:
        """The same as of a noun for people."""
        return self.noun(word)

    def plural(self, noun: str, gender: str = "") -> str | Refusal:
        """The dictionary's plural."""
        return plural_noun(noun)

    def agree(self, adjective: str, gender: str, number: str, case: str = "", after: str = "none") -> str | Refusal:
        """The adjective itself."""
        return adjective

    def finite(self, verb: str, number: str) -> str | Refusal:
        """A third person singular made plural."""
        first, space, rest = verb.partition(" ")
        return plural_verb(first) + space + rest if number == "pl" else verb

    def join(self, words: list[str]) -> str:
        """Words with spaces between them, each a or an chosen by the word that follows."""
        pairs = zip(words, [*words[1:], ""], strict=True)
        return " ".join(article(after) if word in ("a", "an") and after else word for word, after in pairs if word)
