from catsofa.data.language.demonyms import nation, nations, same_group, sibling_groups


def test_a_nation_is_found_by_its_country_and_else_by_an_adjective() -> None:
    """Afghani is another adjective for Afghanistan. An article before a country is ignored."""
    afghans = nation("Afghani")
    assert afghans
    assert (afghans.place, afghans.plural) == ("Afghanistan", "Afghans")
    assert nation("Afghan", "The Netherlands") == nation("Dutch")
    assert nation("Zorbish") is None
    assert all(row.place and row.adjective for row in nations())


def test_a_group_has_every_name_of_a_country_and_its_people() -> None:
    """A misspelt target's group has the usual spelling and its family."""
    assert same_group("Norweigan") == ("norweigan", "norwegian", "norway", "norwegians")
    assert same_group("zorb") == ("zorb",)
    assert sibling_groups()["eritrean"] == sibling_groups()["eriteria"] != sibling_groups()["italian"]
