"""The page of functions lists what the local runtime has and Spark itself was asked about.

A name is listed when a case of ``spark_cases.txt`` calls it and both answer.  Every rule
of the translation has such a case, so that nothing is left out.  After a change,
``python -m tests.docs.test_functions`` writes the lists of the page anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import sqlglot
from sqlglot import Token, TokenType
from tests.plan.spark_cases import cases

from anabranch.plan.sql.dialect import Anabranch
from anabranch.plan.translate import (
    aggregates,
    arithmetic,
    casts,
    conditions,
    mathematics,
    over,
    patterns,
    texts,
    times,
)
from anabranch.plan.translate.translator import called

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "functions.md"
ANSWERS = ROOT / "tests" / "plan" / "spark_answers.json"
BEGIN, END = "<!-- begin: functions -->", "<!-- end: functions -->"
TITLES = {  # the first that has a function's rule lists it; aggregates come before window functions, which may be both
    "Numbers": (arithmetic.RULES, mathematics.RULES),
    "Text": (texts.RULES, patterns.RULES),
    "Time": (times.RULES, {"window": None}),
    "Conditions and choices": (conditions.RULES,),
    "Casts": (casts.RULES,),
    "Aggregates": (aggregates.RULES,),
    "Over a window": (over.RANKS,),
}
NO_CALLS = {"and", "or", "not", "in", "as", "on", "over", "filter", "when", "then", "else", "join", "using"}
NAME = re.compile(r"[a-z]\w*", re.IGNORECASE)
QUOTED = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.RAW_STRING)


def calls(text: str) -> Iterator[tuple[str, str]]:
    """What a text calls: each name, and the call with its arguments."""
    tokens = Anabranch().tokenize(text)
    for i, token in enumerate(tokens[:-1]):
        opens = tokens[i + 1].token_type == TokenType.L_PAREN and token.token_type not in QUOTED
        if opens and NAME.fullmatch(token.text) and token.text.lower() not in NO_CALLS:
            yield token.text.lower(), text[token.start : _closing(tokens[i + 1 :]).end + 1]


def _closing(tokens: list[Token]) -> Token:
    depth = 0
    for token in tokens:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if not depth:
            return token
    raise AssertionError("a call without an end")


def title_of(call: str) -> str | None:
    """Where a call is listed; None for what is no function of its own, such as EXISTS."""
    try:
        rule = called(sqlglot.parse_one(call, dialect=Anabranch))
    except sqlglot.ParseError:
        return None
    return next((title for title, rooms in TITLES.items() if any(rule in room for room in rooms)), None)


def lists() -> str:
    """The lists as the page has them."""
    answers = {(each["table"], each["sql"]): each for each in json.loads(ANSWERS.read_text(encoding="utf-8"))}
    found: dict[str, set[str]] = {title: set() for title in TITLES}
    for case in cases():
        answer = answers.get((case.table, case.text), {"type": "refused"})
        if case.note == "refused" or answer.get("type") == "refused":
            continue
        for name, call in calls(case.text):
            if title := title_of(call):
                found[title].add(name)
    listed: set[str] = set()
    rows = []
    for title, names in found.items():
        rows.append(f"| {title} | {' '.join(f'`{name}`' for name in sorted(names - listed))} |")
        listed |= names
    return "\n".join(["| | |", "|---|---|", *rows])


def test_the_page_lists_what_there_is() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1
    listed = page.partition(BEGIN)[2].partition(END)[0].strip()
    assert listed == lists(), "python -m tests.docs.test_functions writes the lists anew"


def test_a_call_is_found_with_its_arguments() -> None:
    assert list(calls("f(g(1, 2), 'h(') + (3)")) == [("f", "f(g(1, 2), 'h(')"), ("g", "g(1, 2)")]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{lists()}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
