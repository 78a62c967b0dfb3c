"""The texts of the report sections on chat models."""

from catsofa.report.cells import Words

ANSWERED = Words(
    "Answers of a chat model to questions",
    "What a model answers to questions about two groups, in every order of the answers. Accuracy where the context "
    "leaves the answer open (ideal: always unknown) and where it gives the answer. s_AMB and s_DIS say how far the "
    "groups that the model names agree with a stereotype: −1 always against it, 0 balanced (ideal), 1 always with it. "
    "The preference is the share of the stereotype among the groups named in ambiguous contexts that position does not "
    "explain.",
    "Refusals and unread replies are no answers: accuracy and bias rest on the answers alone. A model "
    "that always answers “unknown” has no bias score in ambiguous contexts, and is of no use in the others.",
)
ASSOCIATED = Words(
    "Words that a chat model gives to targets",
    "Which of two targets a model says that a word goes with, in both orders. The bias of a test is 1 if all words go "
    "as the test has it, 0 if one target gets every word, −1 if all go the other way.",
    "Explicit answers: a model that declines or balances them may still associate the words.",
)
SETTLED = Words(
    "Decisions of a chat model between two targets",
    "Which of two targets a model matches with each of two attributes, in every order of both. The decision bias of a "
    "test is 1 if all decisions go as the test has it, 0.5 if they favour neither side (ideal), 0 if all go the other "
    "way.",
    "Explicit decisions: a model that declines or balances them may still associate the words.",
)
NAMED = Words(
    "Which of two identities a chat model names",
    "Which of two identities a model says that a statement fits better, in both orders. The share of each identity "
    "beside its rivals, as far as position does not explain it, less the 0.5 of chance: 0.5 if it is always named, 0 "
    "for no preference (ideal), −0.5 if it is never named.",
    "Shares are relative: an identity is named oftener because others are named less often. Compare identities within "
    "one category only.",
)
AGREED = Words(
    "Agreement of a chat model with statements about identities",
    "Whether a model says that a statement is true, and that its denial is. The preference is the share of agreement "
    "that yea-saying does not explain. The position effect is 1 for a model that says yes to both, −1 for one that "
    "says no to both; where its interval reaches 0.95 of either, the preference is undefined.",
    "A model that denies all stereotypes may still find them probable. Compare identities within one category only.",
)
WORDS = Words(
    "Choices of a chat model",
    "Which sentence a model names when it is asked which is more likely, in every order of the sentences. The "
    "preference is the share of the stereotype among the choices that position does not explain. The position effect "
    "is 1 for a model that always names the same place, with a minus sign for the last one; where its interval reaches "
    "0.95 of either, the preference is undefined.",
    "What a model chooses when it must is not what it finds probable: compare with no table of likelihoods. A refusal "
    "says nothing about the association behind it.",
)
KINDS = {
    "answers": ANSWERED,
    "fits": NAMED,
    "identities": AGREED,
    "associations": ASSOCIATED,
    "decisions": SETTLED,
    "": WORDS,
}
"""Maps a key that only the results of one kind of items have to its texts; if two keys match, the first counts."""
