"""Java's patterns of dates: a few letters that mean the same to DuckDB's strftime.

Years have four digits, so a time beyond 9999 ends the run.  Text is read strictly: as many
digits as the pattern has letters, and nothing before or after.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.time import format_time

from anabranch.plan.translate import types
from anabranch.plan.translate.operands import FIRST, LAST
from anabranch.plan.translate.translator import Translator
from anabranch.plan.translate.value import Unfit, Value, limited, quoted

TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'\[\]{}#]+)")
WRITTEN = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "M": "%-m",
    "MMM": "%b",
    "MMMM": "%B",
    "dd": "%d",
    "d": "%-d",
    "HH": "%H",
    "H": "%-H",
    "hh": "%I",
    "h": "%-I",
    "mm": "%M",
    "m": "%-M",
    "ss": "%S",
    "s": "%-S",
    "SSS": "%g",
    "SSSSSS": "%f",
    "a": "%p",
    "E": "%a",
    "EEE": "%a",
    "EEEE": "%A",
}
READ = {"yyyy": ("%Y", 4), "MM": ("%m", 2), "dd": ("%d", 2), "HH": ("%H", 2), "mm": ("%M", 2), "ss": ("%S", 2)}
DEFAULT = "yyyy-MM-dd HH:mm:ss"


def pattern(node: exp.Expr) -> str:
    """The user's own pattern: sqlglot may have respelled it."""
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise Unfit("needs a format that is a text literal")
    if "%" not in node.this:
        return str(node.this)
    return format_time(node.this, Spark.INVERSE_TIME_MAPPING, Spark.INVERSE_TIME_TRIE) or ""


def written(t: Translator, time: Value, java: str) -> Value:
    """``date_format``."""
    text = ""
    for letters, literal in _parts(java):
        if letters and letters not in WRITTEN:
            raise Unfit(f"has '{letters}' in its format")
        text += WRITTEN[letters] if letters else _escaped(literal)
    stamp = time.to(types.TIMESTAMP) if time.kind == types.DATE else time
    value = t.sound(f"strftime({stamp}, {quoted(text)})", types.STRING, time)
    return limited(value, f"{stamp} NOT BETWEEN {FIRST} AND {LAST}", "texts of years beyond 9999")


def read(t: Translator, text: Value, java: str) -> Value:
    """``to_timestamp`` with a format: a naive time."""
    form, shape = "", ""
    for letters, literal in _parts(java):
        if letters and letters not in READ:
            raise Unfit(f"has '{letters}' in its format")
        known, digits = READ.get(letters, ("", 0))
        form += known if letters else _escaped(literal)
        shape += f"[0-9]{{{digits}}}" if letters else re.escape(literal)
    if not {"%Y", "%m", "%d"} <= set(re.findall("%[A-Za-z]", form)):
        raise Unfit("has a format without a whole date")
    found = f"nullif(regexp_extract({text}, {quoted(f'^({shape})' + chr(92) + 'z')}, 1), '')"
    sql = f"try_strptime({found}, {quoted(form)})"
    why = f"chr(39) || {text} || chr(39) || {quoted(' is not of the form ' + java)}"
    return t.errors.given(t.sound(sql, types.TIMESTAMP, text), f"{text} IS NOT NULL", why)


def _parts(java: str) -> list[tuple[str, str]]:
    """Runs of one letter, and what stands between them."""
    parts, at = [], 0
    while at < len(java):
        match = TOKEN.match(java, at)
        if not match:
            raise Unfit(f"has '{java[at]}' in its format")
        at = match.end()
        quoted_text = match[1].replace("''", "'") or "'" if match[1] is not None else None
        parts.append((match[0], "") if match[2] else ("", match[3] if quoted_text is None else quoted_text))
    return parts


def _escaped(literal: str) -> str:
    return literal.replace("%", "%%")
