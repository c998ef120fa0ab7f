"""LIKE and regular expressions.

DuckDB's engine (RE2) and Java's agree on a plain language: characters, classes, groups,
alternatives, repetition, anchors.  A pattern is taken apart character by character, what
differs is respelled (``.`` stops at five kinds of line end in Java, ``$`` stands before the
last of them), and anything else is refused.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.operands import literal, text, whole
from anabranch.plan.translate.texts import lower
from anabranch.plan.translate.translator import Rules, Translator, arguments, takes
from anabranch.plan.translate.value import Unfit, Value, limited, quoted

ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
LAST = rf"(?:\r\n|[{ENDS}])?\z"
SHORT = {"d": "0-9", "w": "A-Za-z0-9_", "s": r"\t\n\x0B\f\r "}
CONTROL = set("tnrf")
QUANTIFIER = re.compile(r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})(?!\+)\??")
META = set(r"\.[]{}()*+?^$|")


# -- LIKE ---------------------------------------------------------------------------


def like(t: Translator, node: exp.Like | exp.ILike, escape: str = "\\") -> Value:
    subject, pattern = (text(t(each)) for each in arguments(node, "this", "expression", "negate")[:2])
    if isinstance(pattern.constant, str):
        _check_escapes(pattern.constant, escape)
    if isinstance(node, exp.ILike):
        subject, pattern = lower(t, subject), replace(lower(t, pattern), constant=pattern.constant)
    word = "NOT LIKE" if node.args.get("negate") else "LIKE"
    known = isinstance(pattern.constant, str)
    plain = known and escape not in str(pattern.constant)
    sql = f"({subject} {word} {pattern}{'' if plain else f' ESCAPE {quoted(escape)}'})"
    value = t.sound(sql, types.BOOLEAN, subject, pattern)
    if known:
        return value
    return limited(value, f"contains({pattern}, {quoted(escape)})", "escapes in a pattern that is data")


def escaped(t: Translator, node: exp.Escape) -> Value:
    mark = literal(t(node.expression), "an escape character")
    if len(mark) != 1 or mark in "%_" or not isinstance(node.this, (exp.Like, exp.ILike)):
        raise Unfit("has no such escape character", "write ESCAPE '!'")
    return like(t, node.this, mark)


def _check_escapes(pattern: str, mark: str) -> None:
    rest = re.sub(re.escape(mark) + "[" + re.escape(mark) + "%_]", "", pattern)
    if mark in rest:
        raise Unfit("has an escape before an ordinary character", "escape only %, _ and the escape itself")


# -- regular expressions ------------------------------------------------------------


def matches(t: Translator, subject: Value, pattern: Value) -> Value:
    regex = Regex(literal(pattern, "a pattern"), searching=True)
    subject = text(subject)
    return t.sound(f"regexp_matches({subject}, {quoted(regex.text)})", types.BOOLEAN, subject)


def replaced(t: Translator, subject: Value, pattern: Value, replacement: Value) -> Value:
    regex = Regex(literal(pattern, "a pattern"))
    new = literal(replacement, "a replacement")
    if set(new) & set("$\\") or re.match(regex.text_for_python, ""):
        raise Unfit("has a pattern that matches nothing, or a replacement with a reference")
    subject = text(subject)
    return t.sound(f"regexp_replace({subject}, {quoted(regex.text)}, {quoted(new)}, 'g')", types.STRING, subject)


def extracted(t: Translator, subject: Value, pattern: Value, group: Value | None = None) -> Value:
    regex = Regex(literal(pattern, "a pattern"))
    index = whole(group, "a group") if group else 1
    if not 0 <= index <= regex.groups:
        raise Unfit(f"asks for group {index} of {regex.groups}", "count the parentheses")
    subject = text(subject)
    return t.sound(f"regexp_extract({subject}, {quoted(regex.text)}, {index})", types.STRING, subject)


class Regex:
    """A Java pattern respelled for RE2; a pattern that only *searches* may end in ``$``."""

    def __init__(self, java: str, searching: bool = False) -> None:
        self.java, self.searching, self.at, self.groups = java, searching, 0, 0
        parts = []
        open_groups = 0
        while self.at < len(java):
            part = self._atom()
            open_groups += (part in ("(", "(?:")) - (part == ")")
            if open_groups < 0:
                raise self._unfit()
            parts.append(part)
            quantifier = QUANTIFIER.match(java, self.at)
            if quantifier:
                if part in (r"\A", "|", "(", "(?:", LAST):
                    raise self._unfit()
                parts.append(quantifier[0])
                self.at = quantifier.end()
                if java[self.at : self.at + 1] in {"*", "+", "?", "{"}:
                    raise self._unfit()
        if open_groups:
            raise self._unfit()
        self.text = "".join(parts)

    @property
    def text_for_python(self) -> str:
        return re.sub(r"\\x\{([0-9]+)\}", lambda found: f"\\u{found[1].zfill(4)}", self.text).replace(r"\z", r"\Z")

    def _atom(self) -> str:
        char = self._next()
        if char == ".":
            return f"[^{ENDS}]"
        if char == "^" and (self.at == 1 or self.java[self.at - 2] in "(|"):
            return r"\A"
        if char == "$" and self.searching and self.java[self.at : self.at + 1] in ("", "|", ")"):
            return LAST
        if char == "(":
            if self.java.startswith("?:", self.at):
                self.at += 2
                return "(?:"
            self.groups += 1
            return "("
        if char in ")|":
            return char
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape(within=False)
        if char in META and char not in "]}":
            raise self._unfit()
        return re.escape(char) if char in "]}" else char

    def _class(self) -> str:
        parts = ["[^" if self.java.startswith("^", self.at) else "["]
        self.at += len(parts[0]) - 1
        first = True
        while first or not self.java.startswith("]", self.at):
            char = self._next()
            if char in "[&^" or (char == "]" and first):
                raise self._unfit()
            parts.append(self._escape(within=True) if char == "\\" else char)
            first = False
        self.at += 1
        return "".join(parts) + "]"

    def _escape(self, within: bool) -> str:
        char = self._next()
        if char in SHORT:
            return SHORT[char] if within else f"[{SHORT[char]}]"
        if char.lower() in SHORT and not within:
            return f"[^{SHORT[char.lower()]}]"
        if char in CONTROL or (char.isascii() and not char.isalnum() and char > " "):
            return "\\" + char
        raise self._unfit()

    def _next(self) -> str:
        if self.at >= len(self.java):
            raise self._unfit()
        self.at += 1
        return self.java[self.at - 1]

    def _unfit(self) -> Unfit:
        return Unfit(f"has a pattern that the local runtime does not read, at character {self.at}")


RULES: Rules = {
    exp.Like: like,
    exp.ILike: like,
    exp.Escape: escaped,
    exp.RegexpLike: takes(matches, "this", "expression"),
    exp.RegexpReplace: takes(replaced, "this", "expression", "replacement"),
    exp.RegexpExtract: takes(extracted, "this", "expression", "group"),
}
