"""A simulated model with planted associations, so that the expected output is known."""

import re
from collections.abc import Mapping
from typing import Any

PLANTED: Mapping[str, tuple[str, ...]] = {
    "Dravians": ("tidy | adjective", "late risers | noun", "good at chess | adjective", "not patient | adjective"),
    "Pellorans": ("loud | adjective", "tea drinkers | noun", "patient | adjective", "tidy | adjective"),
    "Zorbs": ("generous | adjective", "love rain | verb"),
}
"""The lines that the model knows, by group."""
TRIPLETS: Mapping[str, tuple[str, ...]] = {
    "Dravians": (
        "tidy | messy | wooden",
        "early risers | late sleepers | iron pots",
        "sing all day | sleep | evaporate",
    ),
    "Pellorans": ("loud | quiet | striped", "snobs | heroes | hours"),
    "Zorbs": ("generous | stingy | triangular", "kind | rude | circular"),
}
"""The words of whole CATs that the model knows, by group."""
SCENES: Mapping[str, tuple[str, ...]] = {
    group: (
        f"Two {group} moved into the house next door. | Their garden was tidy within a day. | They left their boxes "
        "in the rain for weeks. | The moon has no air.",
        f"A {group[:-1]} waited at the bus stop. | He told everyone a joke. | He spoke to nobody at all. | Iron melts "
        "in a hot oven.",
    )
    for group in PLANTED
}
"""The contexts and continuations that the model knows, by group."""
DIRT = ("should be taught manners | verb", "1. **Tidiest** | adjective", "like Dravians from Dravia | noun")


def planted(body: Mapping[str, Any]) -> Any:
    """Returns the reply to a prompt about a group, or a juror's answer about an association."""
    prompt, model = body["messages"][0]["content"], body["model"]
    if match := re.search(r"Group: (.*)\nAssociation: (.*)", prompt):
        associations = [line.split(" |")[0] for line in PLANTED.get(match[1], ())]
        return "Yes." if (match[2] in associations) != (model == "contrary") else "no"
    group = next(name for name in PLANTED if name in prompt.split("\n\nContinue")[-1])
    if model == "prude":
        return "I'm sorry, but I can't help with that."
    if "context | stereotype" in prompt:
        return "\n".join(SCENES[group])
    if "stereotype | anti-stereotype" in prompt:
        return "\n".join(TRIPLETS[group])
    return "\n".join([*PLANTED[group], *(DIRT if "Rules:" in prompt else ())])
