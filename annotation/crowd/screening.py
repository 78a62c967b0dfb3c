"""Who may take part by what a platform knows of people: country, approval rate, number of approved tasks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

COUNTRY, RATE, APPROVED = "current-country-of-residence", "approval_rate", "approval_numbers"
"""How Prolific's API names its filters."""
MOST = 100_000
"""The upper end of Prolific's range of approved submissions where it names none."""
LOCALE, PERCENT, NUMBER = "00000000000000000071", "000000000000000000L0", "00000000000000000040"
"""The qualifications of Mechanical Turk for the same: Locale, PercentAssignmentsApproved, NumberHITsApproved."""
CHECKS = ("prolific", "mturk")
"""Platforms that check them by what catsofa sends or names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What people must fulfil; nothing by default."""

    countries: Mapping[str, str] = field(default_factory=dict)
    """Where people must live: ISO codes, as Mechanical Turk takes them, with the names in Prolific's list."""
    approval_rate: int | None = None
    """Percent of a person's tasks, at least, that were approved."""
    approved_tasks: int | None = None
    """Approved tasks, at least."""

    def wrong(self, platform: str) -> Iterator[tuple[str, str]]:
        """What cannot be, and what is expected."""
        for code in self.countries:
            if not (len(code) == 2 and code.isascii() and code.isupper()):
                yield f"countries.{code}", 'ISO codes with names: countries = { US = "United States" }'
        if (self.approval_rate or 0) > 100:
            yield f"approval_rate = {self.approval_rate}", "a percentage from 1 to 100"
        if platform not in CHECKS and (said := [*self.in_words()]):
            yield f"people {said[0]} with platform.name {platform!r}", f"a platform that checks it: {', '.join(CHECKS)}"

    def in_words(self) -> Iterator[str]:
        """Each requirement, as a data statement says it."""
        if self.countries:
            yield f"living in {' or '.join(self.countries.values())}"
        if self.approval_rate:
            yield f"{self.approval_rate} % or more of earlier tasks approved"
        if self.approved_tasks:
            yield f"{self.approved_tasks:,} or more tasks approved"

    def on_prolific(self, offered: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The filters of a draft, by those that Prolific offers; what Prolific does not offer is refused by name."""
        wanted = {COUNTRY: self.countries, RATE: self.approval_rate, APPROVED: self.approved_tasks}
        made: list[dict[str, Any]] = []
        for name, value in wanted.items():
            if not value:
                continue
            if name not in offered:
                raise ValueError(
                    f"Prolific offers no filter {name!r}; expected it among {', '.join(sorted(offered))}: leave the "
                    "key out, and set platform.filters"
                )
            if name == COUNTRY:
                ids = {str(said).casefold(): key for key, said in (offered[name].get("choices") or {}).items()}
                if unknown := [country for country in self.countries.values() if country.casefold() not in ids]:
                    raise ValueError(
                        f"Prolific's list of countries has no {unknown[0]!r}; give the name that the list has"
                    )
                made.append(
                    {"filter_id": name, "selected_values": [ids[c.casefold()] for c in self.countries.values()]}
                )
            else:
                upper = offered[name].get("max") or (100 if name == RATE else MOST)
                made.append({"filter_id": name, "selected_range": {"lower": value, "upper": upper}})
        return made

    def on_mturk(self) -> list[dict[str, Any]]:
        """The QualificationRequirements of a HIT; catsofa makes no HITs, so the researcher sets them."""
        found: list[dict[str, Any]] = []
        if self.countries:
            comparator: Literal["EqualTo", "In"] = "EqualTo" if len(self.countries) == 1 else "In"
            locales = [{"Country": code} for code in self.countries]
            found.append({"QualificationTypeId": LOCALE, "Comparator": comparator, "LocaleValues": locales})
        for kind, least in ((PERCENT, self.approval_rate), (NUMBER, self.approved_tasks)):
            if least:
                at_least = {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [least]}
                found.append({"QualificationTypeId": kind, **at_least})
        return [{**one, "ActionsGuarded": "DiscoverPreviewAndAccept"} for one in found]
