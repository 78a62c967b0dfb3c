"""Commands that check a whole set: lint, stats, split, leaks."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.terminal import Bar, Json, Quiet, doing, examples, note, print_json, reading, say, table, warn
from catsofa.data.percentages import in_percent, quantity

if TYPE_CHECKING:
    from catsofa.validation.lint import Report

SHOWN = 3
"""Number of findings printed for each rule."""
LEAKS = 20
"""Number of leaks that are printed."""

File = Annotated[Path, typer.Argument(help="Data set in any format that catsofa reads.")]
Files = Annotated[list[Path], typer.Argument(help="Data set, in one file or several.")]
SpacyModel = Annotated[str, typer.Option(help="Pipeline of spaCy, by name or folder.")]
CorpusName = Annotated[str, typer.Option("--corpus", help="Source of word frequencies: running text, or `wordfreq`.")]
SentimentModel = Annotated[str, typer.Option(help="Text-classification model, by name or folder.")]
Negative = Annotated[
    str, typer.Option(help="Negative classes of the model, separated by commas. Default: recognised by name.")
]


def register(room: typer.Typer) -> None:
    """Adds the commands of this module."""
    room.command(
        epilog=examples(
            "catsofa validate lint dev.json",
            "catsofa validate lint dev.json --select L1,L2,L3 --json",
            "catsofa validate lint pairs.csv --corpus wordfreq --names names.txt --sarif lint.sarif",
        )
    )(lint)
    room.command(epilog=examples("catsofa validate rules"))(rules)
    room.command(
        epilog=examples(
            "catsofa validate stats dev.json test.json",
            "catsofa validate stats dev.json --corpus wordfreq --json",
        )
    )(stats)
    room.command(
        epilog=examples(
            "catsofa validate split all.json --dev 0.25 --seed 0 --out parts",
            "catsofa validate split all.jsonl --siblings groups.csv --out parts --json",
        )
    )(split)
    room.command(epilog=examples("catsofa validate leaks dev.json test.json"))(leaks)


def _records(paths: Iterable[Path], quiet: bool) -> list[Any]:
    """Returns the records of several files."""
    return [record for path in paths for record in reading(path, quiet=quiet)]


def signed(report: Mapping[str, Any], parts: Mapping[Path, Any], **options: int | float | str) -> dict[str, Any]:
    """Returns the report with its signature, made from the records of each file (`parts`) and the `options`."""
    from importlib.metadata import version

    from catsofa.data.content import content_of
    from catsofa.scoring.signature import data_label

    data = " ".join(data_label(path.name, content_of(records).digest) for path, records in parts.items())
    named = {"data": data, **options, "version": version("catsofa")}
    line = " | ".join(f"{name}:{value}" for name, value in named.items())
    return {**report, "signature": {**named, "line": line}}


def say_set_aside(report: Mapping[str, Any]) -> None:
    """Prints the annotations that did not count, by reason."""
    if report["set_aside"]:
        table("Annotations that did not count", ["reason", "annotations"], report["set_aside"].items())


def _resources(**inputs: Path | str | None) -> dict[str, str]:
    """Returns the given models, files and lists in the form that a signature uses."""
    from catsofa.scoring.signature import name_of

    return {key: name_of(value) if Path(value).exists() else str(value) for key, value in inputs.items() if value}


def lint(
    file: File,
    select: Annotated[str, typer.Option(help="Rules to run, separated by commas. Default: all.")] = "",
    ignore: Annotated[str, typer.Option(help="Rules to leave out, separated by commas.")] = "",
    spacy_model: SpacyModel = "",
    corpus: CorpusName = "",
    names: Annotated[Path | None, typer.Option(help="Given names, one per line.")] = None,
    offensive: Annotated[Path | None, typer.Option(help="Offensive words, one per line.")] = None,
    encoder: Annotated[str, typer.Option(help="Sentence encoder, by name or folder.")] = "",
    model: Annotated[str, typer.Option(help="Language model, by name or folder.")] = "",
    sentiment_model: SentimentModel = "",
    negative: Negative = "",
    against: Annotated[Path | None, typer.Option(help="Another split, which must share nothing with this one.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Also write the findings as SARIF.")] = None,
    fail_on: Annotated[str, typer.Option(help="Exit with 1 if there is any error, warning or info.")] = "",
    json: Json = False,
) -> None:
    """Lint a data set: find items that measure something else. Each rule has a code, a severity and an example."""
    from catsofa.data.digests import DIGITS, hex_digest
    from catsofa.data.files import jsonl
    from catsofa.data.languages.texts import most_spoken
    from catsofa.lint_resources import given
    from catsofa.validation.lint import as_json, write_sarif
    from catsofa.validation.lint import lint as run
    from catsofa.validation.lint.rule import at_least

    worst = at_least(fail_on) if fail_on else ()
    resources: dict[str, Any] = {
        "spacy_model": spacy_model,
        "corpus": corpus,
        "names": names,
        "offensive": offensive,
        "encoder": encoder,
        "model": model,
        "sentiment_model": sentiment_model,
        "negative": negative,
        "against": against,
    }
    records = _records([file], json)
    result = run(
        records,
        given(**resources, language=most_spoken(records)),
        select=_codes(select),
        ignore=_codes(ignore),
        progress=Bar("rules", quiet=json),
    )
    if sarif:
        write_sarif(result, str(file), sarif)
    # rules also read votes, sources and extra fields, which the hash of the data leaves out
    fields = hex_digest(b"".join(sorted(map(jsonl.dumps, records))), DIGITS)
    report = signed(
        as_json(result), {file: records}, rules=",".join(result.ran), fields=fields, **_resources(**resources)
    )
    if json:
        print_json(report)
    else:
        _say_findings(result)
        say(report["signature"]["line"])
    if any(finding.severity in worst for finding in result.findings):
        raise typer.Exit(1)


def _codes(option: str) -> list[str]:
    """Returns the rule codes of an option."""
    return [code.strip() for code in option.split(",") if code.strip()]


def rules(json: Json = False) -> None:
    """List the lint rules: what each looks for, an example, and what it needs to run."""
    from catsofa.validation import lint
    from catsofa.validation.lint.rule import NEEDS

    if json:
        fields = ("severity", "about", "example", "needs", "uses")
        print_json({code: {name: getattr(rule, name) for name in fields} for code, rule in lint.rules().items()})
        return
    warn(list(lint.plugins().broken.values()))
    rows = [
        [rule.code, rule.severity, f"{rule.about}, such as: {rule.example}", NEEDS.get(rule.needs, "")]
        for rule in lint.rules().values()
    ]
    table("Rules", ["rule", "severity", "looks for", "needs"], rows)


def _say_findings(report: "Report") -> None:
    """Prints how many findings each rule has, and the first findings of each rule."""
    from catsofa.validation.lint import rules

    every = rules()
    counts, items = report.counts(), report.items()
    rows = [[code, every[code].severity, counts[code], items[code], every[code].about] for code in report.ran]
    table(quantity(counts.total(), "finding"), ["rule", "severity", "findings", "items", "looks for"], rows)
    for code in report.ran:
        shown = [finding for finding in report.findings if finding.rule == code][:SHOWN]
        for finding in shown:
            text = f": {finding.text}" if finding.text else ""
            fix = f" -> {finding.fix}" if finding.fix else ""
            say(f"{code} {finding.place}: {finding.message}{text}{fix}")
        if counts[code] > SHOWN:
            say(f"{code} and {counts[code] - SHOWN:,} more (--json names all)")
    for withheld in report.not_applied:
        note(str(withheld))
    for code, missing in report.missing.items():
        note(f"{code} {'checks more with' if code in report.ran else 'did not run: it needs'} {missing}")


def stats(
    files: Files,
    corpus: CorpusName = "",
    spacy_model: SpacyModel = "",
    sentiment_model: SentimentModel = "",
    negative: Negative = "",
    top: Annotated[int, typer.Option(help="Keywords of each domain.")] = 16,
    json: Json = False,
) -> None:
    """Show StereoSet's tables for a set: 1 sizes; 2 sentiment, with a classifier; 3 keywords, with word frequencies."""
    from catsofa.data.languages.texts import most_spoken
    from catsofa.lint_resources import class_names, classifier
    from catsofa.validation.json_reports import stats_report
    from catsofa.validation.sets import keywords

    parts = {file: _records([file], json) for file in files}
    records = [record for some in parts.values() for record in some]
    doing(f"counting words of {len(records):,} items")
    named = class_names(negative)
    report = stats_report(
        records,
        classify=classifier(sentiment_model, named) if sentiment_model else None,
        negative=named,
        reference=keywords.reference(corpus, most_spoken(records)) if corpus else None,
        lemmas=keywords.spacy_lemmas(keywords.spacy_pipeline(spacy_model)) if spacy_model else None,
        top=top,
    )
    used = _resources(corpus=corpus, sentiment_model=sentiment_model, negative=negative, spacy_model=spacy_model)
    report = signed(report, parts, **used)
    print_json(report) if json else _say_stats(report)


def _say_stats(report: dict[str, Any]) -> None:
    """Prints the three tables."""
    rows = [
        [kind, domain, size["terms"], size["items"], *(_mean(size[name]) for name in ("words", "words_of_domains"))]
        for kind, domains in report["sizes"].items()
        for domain, size in domains.items()
    ]
    table("Sizes", ["kind", "domain", "terms", "items", "mean words", "mean of domains"], rows)
    if shares := report.get("sentiment"):
        table(
            "Sentiment",
            ["", "positive", "negative", "texts"],
            [[side, in_percent(s["positive"]), in_percent(s["negative"]), s["texts"]] for side, s in shares.items()],
        )
    for left_out in report.get("not_counted", ()):
        note(left_out)
    for domain, words in report.get("keywords", {}).items():
        say(f"keywords of {domain}: {', '.join(word['word'] for word in words)}")
    say(report["signature"]["line"])


def _mean(words: float | None) -> str:
    """Formats a mean number of words; a dash if words were not counted."""
    return "–" if words is None else f"{words:.2f}"


def split(
    files: Files,
    out: Annotated[Path, typer.Option(help="Output folder for dev, test and split.json.")],
    dev: Annotated[float, typer.Option(help="Share of the development set.")] = 0.25,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    siblings: Annotated[Path | None, typer.Option(help="Sibling groups: a CSV with the columns term, group.")] = None,
    near: Annotated[float, typer.Option(help="Similarity from which two items are near-duplicates.")] = 0.8,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Split a set: no target term, sibling term or near-duplicate is on both sides, each domain in proportion."""
    from catsofa.data.languages.texts import said_of_near_duplicates
    from catsofa.validation import siblings as groups
    from catsofa.validation.sets import splits

    sibling_groups = groups.read(siblings) if siblings else None
    silent = quiet or json
    parts = {file: _records([file], silent) for file in files}
    records = [record for some in parts.values() for record in some]
    done = splits.split(
        records, dev=dev, seed=seed, siblings=sibling_groups, near=near, progress=Bar("comparing", quiet=silent)
    )
    signature = signed({}, parts, seed=seed)
    if unread := said_of_near_duplicates(records):
        signature |= {"near_duplicates_by": unread}
    report = splits.write(done, out, like=files[0], dev=dev, seed=seed, signature=signature)
    if json:
        print_json(report)
    elif not quiet:
        _say_split(report)


def _say_split(report: dict[str, Any]) -> None:
    """Prints the sizes of the two sets."""
    for sentence in report.get("near_duplicates_by", ()):
        note(sentence)
    rows = [
        [domain, part["dev"]["items"], part["test"]["items"], in_percent(part["share"])]
        for domain, part in [*report["domains"].items(), ("all", report)]
    ]
    table("Split", ["domain", "dev", "test", "share"], rows)
    say(
        f"{report['blocks']:,} blocks of terms that move together, {report['near_duplicates']:,} near-duplicates kept "
        f"on one side; written to {', '.join(report['files'].values())}"
    )
    say(report["signature"]["line"])


def leaks(
    first: File,
    second: File,
    siblings: Annotated[Path | None, typer.Option(help="Sibling groups: a CSV with the columns term, group.")] = None,
    json: Json = False,
) -> None:
    """Show what two sets share: items, near-duplicates, target terms, sibling terms."""
    from collections import Counter
    from dataclasses import asdict

    from catsofa.data.languages.texts import said_of_near_duplicates
    from catsofa.validation import siblings as groups
    from catsofa.validation.sets import leakage

    sibling_groups = groups.read(siblings) if siblings else None
    first_records, second_records = (_records([file], json) for file in (first, second))
    matches = leakage.leaks(first_records, second_records, sibling_groups, progress=Bar("comparing", quiet=json))
    unread = said_of_near_duplicates([*first_records, *second_records])
    about = {"near_duplicates_by": unread} if unread else {}
    report = signed(
        {"leaks": [asdict(leak) for leak in matches], **about}, {first: first_records, second: second_records}
    )
    if json:
        print_json(report)
        return
    counts = Counter(leak.shared for leak in matches)
    say(", ".join(f"{n:,} {shared}" for shared, n in counts.items()) or "nothing is shared")
    for sentence in unread:
        note(sentence)
    for leak in matches[:LEAKS]:
        say(f"  {leak.item}: {leak.message}")
    if len(matches) > LEAKS:
        say(f"  and {len(matches) - LEAKS:,} more (--json names all)")
    say(report["signature"]["line"])
