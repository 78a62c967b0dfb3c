"""Associations of invented or harmless targets, and the sentences that a template makes of one."""

from catsofa.builders.cats import Association, intrasentence
from catsofa.builders.cats.templates import Template
from catsofa.data.records import Cat


def said(target: str, *words: str, bias_type: str = "profession", context: str = "") -> Association:
    """Returns an association of a target with stereotype, anti-stereotype and unrelated words."""
    stereotype, anti, unrelated = words
    return Association(
        target, bias_type, {"stereotype": stereotype, "anti-stereotype": anti, "unrelated": unrelated}, context
    )


def made(template: Template, association: Association) -> list[str]:
    """Returns the candidates of one association in one template, or the reason of its refusal."""
    (cat,) = intrasentence([template], [association])
    return [candidate.text for candidate in cat.candidates] if isinstance(cat, Cat) else [cat.reason]
