"""Creates and changes the study on Prolific: its text, places, reward, codes, filters and cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catsofa.annotation.crowd import home, money, settings
from catsofa.annotation.crowd.people import arrivals, pilots
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.settings import FILE, Opening
from catsofa.annotation.prolific.client import Action, Prolific, Unanswered
from catsofa.annotation.prolific.journal import Entry, Journal
from catsofa.annotation.study import Study
from catsofa.data.digests import hex_digest

LEAST = {"GBP": 6.0, "USD": 8.0}
"""Minimum pay per hour that Prolific accepts, by the currencies of its accounts."""
CODES: Mapping[str, tuple[str, str]] = {
    "completed": ("COMPLETED", ""),
    "no_consent": ("NO_CONSENT", "You did not agree to take part."),
    "failed_checks": ("FAILED_ATTENTION_CHECK", ""),
    "screened_out": ("SCREENED_OUT", "There was no work left when you came."),
    "failed_practice": ("SCREENED_OUT", "You did not pass the practice tasks."),
    "paused": ("OTHER", ""),
}
"""Prolific's code type for each outcome, and the reason for a return; without a reason, the owner reviews."""
WARNING = "The sentences may repeat hurtful stereotypes about groups of people."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of places on Prolific, in cents."""

    places: int
    reward: int
    total: int
    """The cost with Prolific's fees and taxes, by its cost calculator."""

    @property
    def fees(self) -> int:
        """Fees and taxes."""
        return self.total - self.places * self.reward


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The current state of a study on Prolific."""

    id: str
    status: str
    places: int
    reward: int


def create(study: Study, prolific: Prolific, address: str, places: int | None) -> tuple[str, Cost]:
    """Creates the draft, or takes the one of a killed command; returns its id and cost. Publishes and pays nothing."""
    opening, currency = settings.read(study), study.settings.currency
    if opening.platform.name != "prolific":
        raise ValueError(f"{study.folder / FILE} has platform.name {opening.platform.name!r}; set it to 'prolific'")
    if currency not in LEAST or study.settings.pay < LEAST[currency]:
        least = " or ".join(f"{name} {amount:.2f}" for name, amount in LEAST.items())
        raise ValueError(
            f"the study pays {currency} {study.settings.pay:.2f} an hour, and Prolific takes at least {least}: make "
            "the study with another --pay or --currency"
        )
    if not address.startswith("https://"):
        raise ValueError(
            f"--address {address!r} must begin with https://: people's answers must not travel in the clear"
        )
    with study.locked():
        journal = Journal(study)
        if journal.has_study():
            raise ValueError(
                f"{study.folder} has the study {journal.study()} on Prolific already; change it with state"
            )
        rules = settings.rules(study, opening)
        with home.open_store(study) as store:
            missing = store.do(lambda held: home.missing(held, rules.judges))
            budget = money.budget(study, rules, missing, store.do(home.lacking))
        wanted = budget.places if places is None else places
        if not wanted:
            raise ValueError(f"no judgement is missing in {study.folder}; say how many --places you want all the same")
        platform = opening.platform
        screens = platform.on_prolific(prolific.filters()) if [*platform.in_words()] else []
        cost = Cost(places=wanted, reward=budget.reward, total=prolific.cost(budget.reward, wanted))
        wishes = body(study, opening, rules, address, cost, screens)
        try:
            draft = _drafted(prolific, wishes) or prolific.create(wishes)
            currency = prolific.currency(draft)
        except Unanswered as error:
            raise ValueError(f"{error}; run the command again: it takes the draft that may be there") from None
        if currency and currency != study.settings.currency:
            raise ValueError(
                f"the study promises {study.settings.currency}, and your account on Prolific pays in {currency}: "
                f"delete the draft {draft} there, and make the study with --currency {currency}"
            )
        journal.note(Entry(step="study", id=draft))
    return draft, cost


def _drafted(prolific: Prolific, wishes: Mapping[str, Any]) -> str:
    """Updates a draft that an earlier command created but did not note; returns its id, or an empty string."""
    drafts = prolific.named(wishes["internal_name"])
    if len(drafts) > 1 or set(drafts.values()) - {"UNPUBLISHED"}:
        named = " and ".join(f"{draft} ({status})" for draft, status in drafts.items())
        raise ValueError(
            f"found {named} on Prolific with the internal name {wishes['internal_name']!r}; expected one draft at "
            "most: delete or rename the others there, and run the command again"
        )
    for draft in drafts:
        prolific.update(draft, wishes)
        return draft
    return ""


def body(
    study: Study, opening: Opening, rules: Rules, address: str, cost: Cost, screens: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Returns the draft in the form that Prolific takes; `screens` are the filters by country and approvals."""
    platform, minutes = opening.platform, math.ceil(rules.tasks * rules.seconds / 60)
    codes = []
    for outcome, code in platform.codes.items():
        kind, reason = CODES[outcome]
        action = {"action": "REQUEST_RETURN", "return_reason": reason} if reason else {"action": "MANUALLY_REVIEW"}
        codes.append({"code": code, "code_type": kind, "actions": [action]})
    does = "say what sentences express" if study.kind.asks else "write sentences"
    if study.kind.judged_as:
        does = study.kind.about
    description = (
        f"<p>You {does}: {rules.tasks} tasks, about {minutes} minutes. You can stop at any time.</p>"
        f"<p><strong>Content warning:</strong> {WARNING}</p><p>Contact: {study.settings.contact}</p>"
    )
    return {
        "name": study.settings.title,
        # a unique name, by which a later command finds the draft if this one is killed
        "internal_name": f"{study.settings.title} ({hex_digest(f'{study.settings.secret}:prolific', 12)})",
        "description": description,
        "external_study_url": arrivals.prolific_link(address.rstrip("/")),
        "prolific_id_option": "url_parameters",
        "completion_codes": codes,
        "total_available_places": cost.places,
        "estimated_completion_time": minutes,
        "reward": cost.reward,
        "device_compatibility": list(platform.devices),
        "filters": [*map(dict, platform.filters), *screens, *_without_pilots(study)],
        "content_warnings": [platform.warning],
        "content_warning_details": WARNING,
        "study_labels": ["annotation" if study.kind.asks else "writing_task"],
    } | ({"project": platform.project} if platform.project else {})


def _without_pilots(study: Study) -> list[dict[str, Any]]:
    """Returns the filter that hides the study from everybody who took part in a pilot on Prolific."""
    journals = [Journal(pilot) for pilot in pilots.earlier(study)]
    ids = [journal.study() for journal in journals if journal.has_study()]
    return [{"filter_id": "previous_studies_blocklist", "selected_values": ids}] if ids else []


def state(study: Study, prolific: Prolific) -> State:
    """Returns the current state of the study on Prolific."""
    identifier = Journal(study).study()
    remote = prolific.study(identifier)
    return State(
        id=identifier,
        status=str(remote.get("status", "")),
        places=int(remote.get("total_available_places") or 0),
        reward=round(remote.get("reward") or 0),
    )


def change(study: Study, prolific: Prolific, now: State, action: Action | None, places: int | None) -> None:
    """Changes the places, then the state; refuses to publish a study that pays less than it promises."""
    if places is not None and places < now.places and now.status != "UNPUBLISHED":
        raise ValueError(f"the study has {now.places} places and is {now.status}: a published study can only get more")
    promised = study.settings.cents(settings.rules(study, settings.read(study)).tasks)
    if action == "publish" and now.reward < promised:
        currency, paid, owed = study.settings.currency, money.decimal(now.reward), money.decimal(promised)
        raise ValueError(
            f"the study pays {currency} {paid} on Prolific, and promises people {currency} {owed}; raise it there"
        )
    if places is not None and places != now.places:
        prolific.set_places(now.id, places)
    if action:
        prolific.move(now.id, action)
