"""Questions as prefix trees: each distinct prefix is one node, however many texts begin with it.

The nodes of a tree stand in one row in depth-first order, so that the descendants of node j are those from j to
`ends[j]`, and node i may attend to j exactly if j ≤ i < ends[j]. Pure planning: no model here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from catsofa.scoring.questions import Continuation


@dataclass(slots=True)
class Tree:
    """One row: its nodes in depth-first order, and the (node, next token) pairs that are asked."""

    ids: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    """For each asked pair, the node before the token."""
    tokens: list[int] = field(default_factory=list)
    answers: list[tuple[int, list[int]]] = field(default_factory=list)
    """For each question by its number, the asked pairs that make its answer."""
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)

    def grow(self, path: list[int], ids: Sequence[int]) -> None:
        """Add nodes for the ids after `path`, which is made longer; the ends of its nodes move along."""
        for depth in range(len(path), len(ids)):
            path.append(len(self.ids))
            self.ids.append(ids[depth])
            self.depths.append(depth)
            self.ends.append(0)
        for node in path:
            self.ends[node] = len(self.ids)

    def ask(self, number: int, question: Continuation, path: Sequence[int]) -> None:
        """Note the pairs of a question whose nodes stand on `path`; a pair asked before is not asked again."""
        wanted = []
        for at in range(question.start, len(question.ids)):
            pair = (path[at - 1], question.ids[at])
            if pair not in self.pairs:
                self.pairs[pair] = len(self.nodes)
                self.nodes.append(pair[0])
                self.tokens.append(pair[1])
            wanted.append(self.pairs[pair])
        self.answers.append((number, wanted))


def trees(questions: Sequence[Continuation], width: int) -> list[Tree]:
    """Rows of at most `width` nodes (or of one question, if that is longer); a question's last token is no node."""
    found: list[Tree] = []
    path: list[int] = []
    before: Sequence[int] = ()
    for number in sorted(range(len(questions)), key=lambda number: questions[number].ids):
        question = questions[number]
        ids = question.ids[:-1]
        same = min(shared(before, ids), len(path))
        if not found or len(found[-1].ids) + len(ids) - same > width:
            found.append(Tree())
            same = 0
        del path[same:]
        found[-1].grow(path, ids)
        found[-1].ask(number, question, path)
        before = ids
    return found


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the prefix that two sequences have in common."""
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)
