from catsofa.data.language.demonyms import nation, nations, same_group, sibling_groups


def test_a_nation_is_found_by_its_country_and_else_by_an_adjective() -> None:
    """Afghani is another adjective for Afghanistan; an article before a country is no part of its name."""
    afghans = nation("Afghani")
    assert afghans
    assert (afghans.place, afghans.plural) == ("Afghanistan", "Afghans")
    assert nation("Afghan", "The Netherlands") == nation("Dutch")
    assert nation("Zorbish") is None
    assert all(row.place and row.adjective for row in nations())


def test_a_group_has_every_name_of_a_country_and_its_people() -> None:
    """A misspelt target is followed by its usual spelling and by that one's family."""
    assert same_group("Norweigan") == ("norweigan", "norwegian", "norway", "norwegians")
    assert same_group("zorb") == ("zorb",)


def test_siblings_share_a_group() -> None:
    """A split by term must not have Ethiopia on one side and Ethiopian on the other."""
    pairs = [("Ethiopia", "Ethiopian"), ("Italy", "Italian"), ("Norweigan", "Norway"), ("Dutch people", "Netherlands"),
             ("he", "himself"), ("mommy", "mother"), ("Eriteria", "Eritrean"), ("Britain", "British")]  # fmt: skip
    groups = sibling_groups()
    assert [pair for pair in pairs if groups[pair[0].lower()] != groups[pair[1].lower()]] == []
    assert groups["italy"] != groups["ireland"]
