"""Functions of text.  Both runtimes count in code points.

Case is where they differ: Spark maps by all of Unicode's rules (``ß`` to ``SS``), DuckDB a
character to a character.  ASCII is mapped; other text is, unless it holds a character that
the two map differently.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from anabranch.plan.translate import types
from anabranch.plan.translate.folding import LOWER, UPPER
from anabranch.plan.translate.operands import integer, list_of, literal, text, whole
from anabranch.plan.translate.translator import Rules, Translator, arguments, takes
from anabranch.plan.translate.value import Unfit, Value, limited, quoted


def of_text(name: str, kind: pa.DataType = types.STRING) -> Callable[..., Value]:
    """A function that both runtimes have, of one text or more."""

    def make(t: Translator, *values: Value) -> Value:
        texts = [text(value) for value in values]
        return t.sound(f"CAST({name}({list_of(texts)}) AS {types.duck(kind)})", kind, *texts)

    return make


def one(name: str, kind: pa.DataType = types.STRING) -> Callable[[Translator, Value], Value]:
    return lambda t, a: of_text(name, kind)(t, a)


def two(name: str, kind: pa.DataType = types.STRING) -> Callable[[Translator, Value, Value], Value]:
    return lambda t, a, b: of_text(name, kind)(t, a, b)


def upper(t: Translator, value: Value) -> Value:
    return _mapped(t, "upper", text(value), UPPER)


def lower(t: Translator, value: Value) -> Value:
    return _mapped(t, "lower", text(value), LOWER)


def _mapped(t: Translator, name: str, value: Value, exceptions: str) -> Value:
    mapped = t.sound(f"{name}({value})", types.STRING, value)
    if isinstance(value.constant, str) and value.constant.isascii():
        return mapped
    special = f"(strlen({value}) > length({value}) AND regexp_matches({value}, {quoted(exceptions)}))"
    return limited(mapped, special, f"{name}() of every character")


def concat(t: Translator, node: exp.Concat) -> Value:
    if "safe" not in node.args:
        raise Unfit("stands side by side", "write one text, or concat(); a quote within a text is \\'")
    return _joined(t, [t(each) for each in arguments(node, "expressions")])


def _joined(t: Translator, values: list[Value]) -> Value:
    texts = [text(value) for value in values]
    return t.sound("(" + " || ".join(each.sql for each in texts) + ")" if texts else "''", types.STRING, *texts)


def piped(t: Translator, a: Value, b: Value) -> Value:
    return _joined(t, [a, b])


def concat_ws(t: Translator, separator: Value, *values: Value) -> Value:
    if not values:
        raise Unfit("has nothing to join", "name the texts")
    return of_text("concat_ws")(t, separator, *values)


def substring(t: Translator, value: Value, start: Value, length: Value | None = None) -> Value:
    value, start = text(value), integer(start)
    if isinstance(start.constant, int) and start.constant > 0 and length is None:
        return t.sound(f"substring({value}, {start})", types.STRING, value)
    first = f"(CASE WHEN {start} > 0 THEN {_big(start)} - 1 WHEN {start} < 0 THEN length({value}) + {start} ELSE 0 END)"
    length = integer(length) if length else Value("2147483647", types.INT)
    count = f"greatest(least({first} + {length}, 2147483647) - greatest({first}, 0), 0)"
    known = f"{start} IS NOT NULL AND {length} IS NOT NULL AND {value} IS NOT NULL"
    sql = f"(CASE WHEN {known} THEN substring({value}, greatest({first}, 0) + 1, {count}) END)"
    return t.sound(sql, types.STRING, value, start, length)


def _big(value: Value) -> Value:
    return value.to(types.BIGINT)


def end(name: str) -> Callable[..., Value]:
    """``left`` and ``right``."""

    def make(t: Translator, value: Value, count: Value) -> Value:
        value, count = text(value), integer(count)
        known = f"{count} IS NOT NULL"  # greatest() passes over NULL
        sql = f"(CASE WHEN {known} THEN {name}({value}, greatest({_big(count)}, 0)) END)"
        return t.sound(sql, types.STRING, value, count)

    return make


def trim(t: Translator, node: exp.Trim) -> Value:
    operands = [text(t(each)) for each in arguments(node, "this", "expression", "position")]
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
    return _trimmed(t, name, *operands)


def both_trim(t: Translator, value: Value, characters: Value | None = None) -> Value:
    return _trimmed(t, "trim", text(value), *([text(characters)] if characters else []))


def _trimmed(t: Translator, name: str, value: Value, characters: Value | None = None) -> Value:
    characters = characters or Value("' '", types.STRING)
    return t.sound(f"{name}({value}, {characters})", types.STRING, value, characters)


def pad(t: Translator, node: exp.Pad) -> Value:
    value, count, *fill = (t(each) for each in arguments(node, "this", "expression", "fill_pattern", "is_left"))
    value, count = text(value), integer(count)
    filler = text(fill[0]) if fill else Value("' '", types.STRING)
    name = "lpad" if node.args.get("is_left") else "rpad"
    bare = f"left({value}, greatest({_big(count)}, 0))"
    padded = f"{name}({value}, greatest({count}, 0), {filler})"
    sql = f"(CASE WHEN {count} IS NULL THEN NULL WHEN {filler} = '' THEN {bare} ELSE {padded} END)"
    return t.sound(sql, types.STRING, value, count, filler)


def replace(t: Translator, value: Value, old: Value, new: Value | None = None) -> Value:
    return of_text("replace")(t, value, old, new or Value("''", types.STRING))


def position(t: Translator, value: Value, part: Value, start: Value | None = None) -> Value:
    value, part = text(value), text(part)
    if start is None:
        return t.sound(f"CAST(instr({value}, {part}) AS INTEGER)", types.INT, value, part)
    start = integer(start)
    rest = f"instr(substring({value}, {start}), {part})"
    sql = (
        f"(CASE WHEN {value} IS NULL OR {part} IS NULL THEN NULL WHEN {start} IS NULL OR {start} < 1 THEN 0"
        f" WHEN {part} = '' THEN 1 WHEN {rest} = 0 THEN 0 ELSE CAST({rest} + {start} - 1 AS INTEGER) END)"
    )
    return t.sound(sql, types.INT, value, part, start)


def reverse(t: Translator, value: Value) -> Value:
    value = text(value)
    return t.sound(f"array_to_string(list_reverse(string_split({value}, '')), '')", types.STRING, value)


def repeat(t: Translator, value: Value, count: Value) -> Value:
    value, count = text(value), integer(count)
    sql = f"(CASE WHEN {count} IS NOT NULL THEN repeat({value}, greatest({_big(count)}, 0)) END)"
    return t.sound(sql, types.STRING, value, count)


def space(t: Translator, count: Value) -> Value:
    return repeat(t, Value("' '", types.STRING), count)


def sha2(t: Translator, value: Value, bits: Value) -> Value:
    if whole(bits, "a length") not in (0, 256):
        raise Unfit("has another length than 256")
    return of_text("sha256")(t, value)


# -- parts between delimiters -------------------------------------------------------


def split(t: Translator, value: Value, delimiter: Value) -> Value:
    mark = literal(delimiter, "a delimiter")
    if not mark or set(mark) & set(r"\.[]{}()*+?^$|"):
        raise Unfit("splits by a regular expression", "split_part() takes a plain delimiter")
    value = text(value)
    return t.sound(f"string_split({value}, {quoted(mark)})", pa.list_(types.STRING), value)


def split_part(t: Translator, value: Value, delimiter: Value, part: Value) -> Value:
    mark, index, value = _delimiter(delimiter), whole(part, "a part"), text(value)
    if index == 0:
        raise Unfit("asks for part 0", "parts count from 1")
    return t.sound(f"split_part({value}, {quoted(mark)}, {index})", types.STRING, value)


def substring_index(t: Translator, value: Value, delimiter: Value, count: Value) -> Value:
    mark, n, value = _delimiter(delimiter), whole(count, "a count"), text(value)
    if n == 0:
        return t.sound(f"left({value}, 0)", types.STRING, value)
    span = f"1:{n}" if n > 0 else f"{n}:"
    sql = f"array_to_string(string_split({value}, {quoted(mark)})[{span}], {quoted(mark)})"
    return t.sound(sql, types.STRING, value)


def _delimiter(value: Value) -> str:
    mark = literal(value, "a delimiter")
    if not mark:
        raise Unfit("has an empty delimiter", "name one")
    return mark


def size(t: Translator, values: Value) -> Value:
    if not pa.types.is_list(values.kind):
        raise Unfit(f"takes arrays, not {types.name(values.kind)}", "length() is for texts")
    return t.sound(f"CAST(len({values}) AS INTEGER)", types.INT, values)


def element(t: Translator, node: exp.Bracket) -> Value:
    values, index = (t(each) for each in arguments(node, "this", "expressions"))
    if not pa.types.is_list(values.kind):
        raise Unfit(f"takes arrays, not {types.name(values.kind)}")
    index = integer(index)
    value = t.sound(f"{values}[{index} + 1]", values.kind.value_type, values, index)
    return t.errors.checked(f"{index} < 0 OR {index} >= len({values})", quoted("an array has no such index"), value)


RULES: Rules = {
    exp.Upper: takes(upper, "this"),
    exp.Lower: takes(lower, "this"),
    exp.Length: takes(one("length", types.INT), "this"),
    "octet_length": takes(one("strlen", types.INT)),
    exp.Concat: concat,
    exp.DPipe: takes(piped, "this", "expression"),
    exp.ConcatWs: takes(concat_ws, "expressions"),
    exp.Substring: takes(substring, "this", "start", "length"),
    exp.Left: takes(end("left"), "this", "expression"),
    exp.Right: takes(end("right"), "this", "expression"),
    exp.Trim: trim,
    "btrim": takes(both_trim),
    exp.Pad: pad,
    exp.Replace: takes(replace, "this", "expression", "replacement"),
    exp.StrPosition: takes(position, "this", "substr", "position"),
    exp.StartsWith: takes(two("starts_with", types.BOOLEAN), "this", "expression"),
    exp.EndsWith: takes(two("ends_with", types.BOOLEAN), "this", "expression"),
    exp.Contains: takes(two("contains", types.BOOLEAN), "this", "expression"),
    exp.Reverse: takes(reverse, "this"),
    exp.Repeat: takes(repeat, "this", "times"),
    exp.Space: takes(space, "this"),
    exp.Translate: takes(lambda t, a, b, c: of_text("translate")(t, a, b, c), "this", "from_", "to"),
    exp.Ascii: takes(one("ascii", types.INT), "this"),
    exp.MD5: takes(one("md5"), "this"),
    exp.SHA: takes(one("sha1"), "this"),
    exp.SHA2: takes(sha2, "this", "length"),
    exp.SplitPart: takes(split_part, "this", "delimiter", "part_index"),
    exp.SubstringIndex: takes(substring_index, "this", "delimiter", "count"),
    exp.RegexpSplit: takes(split, "this", "expression"),
    exp.ArraySize: takes(size, "this"),
    exp.Bracket: element,
}
