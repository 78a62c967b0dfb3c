"""Screens people by what a platform knows about them: country, approval rate, number of approved tasks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

COUNTRY, RATE, APPROVED = "current-country-of-residence", "approval_rate", "approval_numbers"
"""Names of the filters in Prolific's API."""
MOST = 100_000
"""Upper end of Prolific's range of approved submissions, if Prolific names none."""
LOCALE, PERCENT, NUMBER = "00000000000000000071", "000000000000000000L0", "00000000000000000040"
"""Qualification types of Mechanical Turk for the same: Locale, PercentAssignmentsApproved, NumberHITsApproved."""
CHECKS = ("prolific", "mturk")
"""Platforms that check the requirements, by the filters that catsofa sends or prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """Requirements for people; none by default."""

    countries: Mapping[str, str] = field(default_factory=dict)
    """Countries where people must live: ISO codes for Mechanical Turk, with the names in Prolific's list."""
    approval_rate: int | None = None
    """Minimum percentage of a person's tasks that were approved."""
    approved_tasks: int | None = None
    """Minimum number of approved tasks."""

    def wrong(self, platform: str) -> Iterator[tuple[str, str]]:
        """Yields each invalid setting, with the expected value."""
        for code in self.countries:
            if not (len(code) == 2 and code.isascii() and code.isupper()):
                yield f"countries.{code}", 'ISO codes with names: countries = { US = "United States" }'
        if (self.approval_rate or 0) > 100:
            yield f"approval_rate = {self.approval_rate}", "a percentage from 1 to 100"
        if platform not in CHECKS and (requirements := [*self.in_words()]):
            yield (
                f"people {requirements[0]} with platform.name {platform!r}",
                f"a platform that checks it: {', '.join(CHECKS)}",
            )

    def in_words(self) -> Iterator[str]:
        """Yields each requirement in words, for the data statement."""
        if self.countries:
            yield f"living in {' or '.join(self.countries.values())}"
        if self.approval_rate:
            yield f"{self.approval_rate} % or more of earlier tasks approved"
        if self.approved_tasks:
            yield f"{self.approved_tasks:,} or more tasks approved"

    def on_prolific(self, offered: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Returns the filters of a draft on Prolific; refuses by name what Prolific does not offer."""
        wanted = {COUNTRY: self.countries, RATE: self.approval_rate, APPROVED: self.approved_tasks}
        filters: list[dict[str, Any]] = []
        for name, value in wanted.items():
            if not value:
                continue
            if name not in offered:
                raise ValueError(
                    f"Prolific offers no filter {name!r}; expected it among {', '.join(sorted(offered))}: leave the "
                    "key out, and set platform.filters"
                )
            if name == COUNTRY:
                ids = {str(choice).casefold(): key for key, choice in (offered[name].get("choices") or {}).items()}
                if unknown := [country for country in self.countries.values() if country.casefold() not in ids]:
                    raise ValueError(
                        f"Prolific's list of countries has no {unknown[0]!r}; give the name that the list has"
                    )
                filters.append(
                    {"filter_id": name, "selected_values": [ids[c.casefold()] for c in self.countries.values()]}
                )
            else:
                upper = offered[name].get("max") or (100 if name == RATE else MOST)
                filters.append({"filter_id": name, "selected_range": {"lower": value, "upper": upper}})
        return filters

    def on_mturk(self) -> list[dict[str, Any]]:
        """Returns the QualificationRequirements of a HIT; the researcher sets them, because catsofa creates no HITs."""
        requirements: list[dict[str, Any]] = []
        if self.countries:
            comparator: Literal["EqualTo", "In"] = "EqualTo" if len(self.countries) == 1 else "In"
            locales = [{"Country": code} for code in self.countries]
            requirements.append({"QualificationTypeId": LOCALE, "Comparator": comparator, "LocaleValues": locales})
        for kind, least in ((PERCENT, self.approval_rate), (NUMBER, self.approved_tasks)):
            if least:
                at_least = {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [least]}
                requirements.append({"QualificationTypeId": kind, **at_least})
        return [{**one, "ActionsGuarded": "DiscoverPreviewAndAccept"} for one in requirements]
