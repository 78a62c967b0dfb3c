from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from catsofa.builders import identities
from catsofa.data import languages
from catsofa.data.records import Identity, Term


@pytest.fixture
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs a package with the folder of a language under a code, and yields the folder."""
    folder = tmp_path / "catsofa_dravian"
    folder.mkdir()
    (folder / "__init__.py").touch()
    facts = ['code = "drv"', 'name = "Dravian"', 'status = "draft"', "spaces = true", 'numbers = ["sg", "pl"]']
    (folder / "language.toml").write_text("\n".join([*facts, "[subject]", 'noun = "{targets}"']))
    (folder / "terms.csv").write_text("term,category,pos,sg,pl\nzorb,x,n,zorb,zorbim\n")
    point = EntryPoint("drv", "catsofa_dravian", languages.GROUP)
    monkeypatch.setattr(languages, "entry_points", lambda group: EntryPoints([point]))
    monkeypatch.syspath_prepend(tmp_path)
    languages.codes.cache_clear()
    languages._installed.cache_clear()
    yield folder
    languages.codes.cache_clear()
    languages._installed.cache_clear()


def test_a_plugin_is_a_language_by_its_code(plugged_in: Path) -> None:
    """Records have the plugin's code, and builders find its folder."""
    (identity,) = identities.build([Term(category="x", term="zorb", pos="n", language="drv")])
    assert isinstance(identity, Identity)
    assert (identity.identity, identity.language) == ("Zorbim", "drv")
    assert {"drv", "es"} <= languages.codes().keys()


def test_a_plugin_without_its_files_is_refused(plugged_in: Path) -> None:
    """The error names the package."""
    (plugged_in / "language.toml").unlink()
    with pytest.raises(ValueError, match="catsofa_dravian"):
        languages.find("drv")
