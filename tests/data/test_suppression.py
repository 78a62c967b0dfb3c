"""Tests k-suppression: no published group is smaller than k people."""

from collections import Counter
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data.suppression import WITHHELD, generalised, small_cells, steps_of

WIDER = {"home": {"Upper": "Pelloran", "Lower": "Pelloran", "Hill": "Dravian"}, "age": {"20": "young", "30": "young"}}
STEPS = steps_of(["home", "age"], WIDER)
PERSON = st.fixed_dictionaries(
    {"home": st.sampled_from(["Upper", "Lower", "Hill", "none"]), "age": st.sampled_from(["20", "30", "60"])}
)
PEOPLE = st.dictionaries(st.integers(0, 60).map(str), PERSON, max_size=60)
K = st.integers(3, 6)


def classes(rows: Mapping[str, Mapping[str, str]]) -> Counter[tuple[str, ...]]:
    """Returns how many people share each combination."""
    return Counter(tuple(row[column] for column in WIDER) for row in rows.values())


@settings(max_examples=60, deadline=None)
@given(PEOPLE, K)
def test_no_published_combination_has_fewer_than_k_people(people: dict[str, dict[str, str]], k: int) -> None:
    """The group with withheld values also has at least k people, if the data has k."""
    rows = generalised(people, STEPS, k)
    assert rows.keys() == people.keys()
    if len(people) >= k:
        assert min(classes(rows).values()) >= k
    else:
        assert set(classes(rows)) <= {(WITHHELD, WITHHELD)}


@settings(max_examples=60, deadline=None)
@given(PEOPLE, PEOPLE, K)
def test_two_releases_together_tell_no_fewer_than_k_people_apart(
    first: dict[str, dict[str, str]], more: dict[str, dict[str, str]], k: int
) -> None:
    """People join and leave between releases. Each new value in the second is shared by k people with the same first
    release."""
    early = generalised(first, STEPS, k)
    remaining = {name: person for name, person in first.items() if len(name) == 1 or name < "3"}
    late = generalised({**more, **remaining}, STEPS, k, early)
    joint = Counter(
        (tuple(sorted(early.get(name, {}).items())), tuple(sorted(row.items()))) for name, row in late.items()
    )
    for (_, values), people in joint.items():
        assert people >= k or {value for _, value in values} == {WITHHELD}
    assert len(late) < k or min(classes(late).values()) >= k


@settings(max_examples=60, deadline=None)
@given(PEOPLE, K)
def test_values_are_published_as_they_are_where_enough_people_share_them(
    people: dict[str, dict[str, str]], k: int
) -> None:
    """A person in a combination of k or more keeps the values, unless they are withheld to protect withheld people."""
    rows = generalised(people, STEPS, k)
    changed = [
        name for name, row in rows.items() if row != people[name] and classes(people)[tuple(people[name].values())] >= k
    ]
    assert {tuple(rows[name].values()) for name in changed} <= {(WITHHELD, WITHHELD)}


def test_an_answer_becomes_wider_before_it_is_withheld() -> None:
    """Three of Upper and two of Lower become five of Pelloran. No answer is withheld."""
    people = {str(n): {"home": "Upper" if n < 3 else "Lower", "age": "20"} for n in range(5)}
    assert {tuple(row.values()) for row in generalised(people, STEPS, 5).values()} == {("Pelloran", "20")}


TABLE = st.dictionaries(
    st.integers(0, 30).map(str), st.fixed_dictionaries({name: st.integers(0, 9) for name in "abc"}), max_size=20
)


@settings(max_examples=60, deadline=None)
@given(TABLE, K)
def test_no_small_cell_is_shown_or_follows_from_a_sum(table: dict[str, dict[str, int]], k: int) -> None:
    """In each row and column, the hidden cells are none, sum to k or more, or are all."""
    hidden = small_cells(table, k)
    cells = [(row, column, n) for row, counts in table.items() for column, n in counts.items()]
    assert all((row, column) in hidden for row, column, n in cells if 0 < n < k)
    for line in (*table, *"abc"):
        inside = [(row, column, n) for row, column, n in cells if line in (row, column)]
        away = [n for row, column, n in inside if (row, column) in hidden]
        assert not away or sum(away) >= k or len(away) == len(inside)


def test_the_next_smallest_cell_is_hidden_with_a_small_one() -> None:
    """A cell of 2 beside 3 and 4 is hidden together with the 3. Cells of 3 and 4 both stay at k = 3."""
    assert small_cells({"i": {"a": 2, "b": 3, "c": 4}}, 3) == {("i", "a"), ("i", "b")}
    assert small_cells({"i": {"a": 3, "b": 4}}, 3) == set()
