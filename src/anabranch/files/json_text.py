"""Rows as JSON text, column by column, exact for every Arrow type.

Numbers keep all their digits (64-bit integers, decimals); NaN and the infinities,
which JSON does not have, are the strings "NaN", "Infinity" and "-Infinity".  Times
are ISO 8601, in UTC with a Z when their column has a zone; binary is base64.

Cost: Arrow kernels for plain columns; a Python loop for lists, maps and strings
that need escapes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc


def row_json(batch: pa.RecordBatch, i: int) -> str:
    """Row *i* as the JSON text of one object."""
    text: str = rows_json(batch.slice(i, 1))[0].as_py()
    return text


def rows_json(batch: pa.RecordBatch) -> pa.Array:
    """Every row as the JSON text of one object."""
    return objects(batch.schema.names, [json_texts(column) for column in batch.columns], batch.num_rows)


def objects(names: Sequence[str], cells: Sequence[pa.Array], rows: int) -> pa.Array:
    """One JSON object a row from the JSON texts of its values."""
    parts: list[object] = []
    for i, (name, cell) in enumerate(zip(names, cells, strict=True)):
        parts += [("{" if i == 0 else ", ") + quoted(name) + ": ", cell]
    return joined([*parts, "}"]) if parts else pa.array(["{}"] * rows, pa.string())


def joined(parts: Iterable[object]) -> pa.Array:
    """Strings side by side, row by row; plain strings repeat."""
    return pc.binary_join_element_wise(*parts, "")


def quoted(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


def json_texts(column: pa.Array) -> pa.Array:
    """Each value as JSON text; NULL is ``null``."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return json_texts(column.dictionary_decode())
    if isinstance(kind, pa.BaseExtensionType):
        return json_texts(column.storage)
    if types.is_struct(kind):
        cells = [json_texts(field) for field in column.flatten()]
        return _with_nulls(objects([kind.field(i).name for i in range(kind.num_fields)], cells, len(column)), column)
    if types.is_map(kind):
        return _maps(column)
    if types.is_nested(kind):
        return _lists(column)
    text = plain(column)
    if types.is_floating(kind):
        strange = pc.match_substring_regex(text, "[Nn]")
        text = pc.if_else(strange, joined(['"', text, '"']), text)
    elif _is_calendar(kind):
        text = pc.if_else(pc.match_substring_regex(text, ".[-:]"), joined(['"', text, '"']), text)
    elif not (types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind) or types.is_duration(kind)):
        text = _strings(text)
    return pc.fill_null(text, "null")


def plain(column: pa.Array) -> pa.Array:
    """Each scalar as bare text, NULL as NULL: what JSON would put between quotes."""
    kind, types = column.type, pa.types
    if types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if types.is_floating(kind):
        return _floats(column)
    if types.is_timestamp(kind):
        text = _times(column.view(pa.timestamp(kind.unit)))  # Arrow prints years beyond 32767 wrongly with a zone
        return pc.if_else(pc.match_substring(text, "T"), joined([text, "Z"]), text) if kind.tz else text
    if _is_calendar(kind):
        return _times(column)
    if _is_binary(kind):
        return pa.array([None if v is None else base64.b64encode(v).decode() for v in column.to_pylist()], pa.string())
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([None if v is None else str(v) for v in column.to_pylist()], pa.string())


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    fixed = types.is_fixed_size_binary(kind) and not types.is_decimal(kind)
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind) or fixed)


def _is_calendar(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind))


def _floats(column: pa.Array) -> pa.Array:
    text = (column.cast(pa.float32()) if column.type == pa.float16() else column).cast(pa.string())
    text = pc.replace_substring_regex(text, r"^(-?[0-9]+)$", r"\1.0")  # 1.0, which is not the integer 1
    text = pc.replace_substring_regex(text, r"^-?nan$", "NaN")
    return pc.replace_substring_regex(text, r"inf$", "Infinity")


def _times(column: pa.Array) -> pa.Array:
    text = pc.replace_substring(column.cast(pa.string()), " ", "T", max_replacements=1)
    beyond = pc.starts_with(text, "<")  # a year that no calendar of Arrow's reaches: its number in the column's unit
    if pc.any(beyond).as_py():
        number = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64()).cast(pa.string())
        text = pc.if_else(beyond, number, text)
    return text


def _strings(text: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(text, r'["\\\x00-\x1f]')).as_py():
        return pa.array([None if v is None else quoted(v) for v in text.to_pylist()], pa.string())
    return joined(['"', text, '"'])


def _lists(column: pa.Array) -> pa.Array:
    return _runs(json_texts(column.flatten()), column, "[]")


def _maps(column: pa.Array) -> pa.Array:
    """An object when the keys are text, else a list of pairs."""
    kind = column.type
    named = pa.types.is_string(kind.key_type) or pa.types.is_large_string(kind.key_type)
    pairs = column.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
    entries = pairs.flatten()
    keys, values = json_texts(entries.field(0)), json_texts(entries.field(1))
    texts = joined([keys, ": ", values]) if named else joined(["[", keys, ", ", values, "]"])
    return _runs(texts, pairs, "{}" if named else "[]")


def _runs(texts: pa.Array, lists: pa.Array, brackets: str) -> pa.Array:
    """The texts of the items of all lists, put together list by list."""
    items = iter(texts.to_pylist())
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_pylist()
    runs = [", ".join(next(items) for _ in range(length)) for length in lengths]
    return _with_nulls(pa.array([brackets[0] + run + brackets[1] for run in runs], pa.string()), lists)


def _with_nulls(text: pa.Array, column: pa.Array) -> pa.Array:
    return pc.if_else(column.is_null(), "null", text) if column.null_count else text
