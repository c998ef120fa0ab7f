"""From a join as a query states it to the program that an operator runs.

Every conjunct ends in one of three places: an equality of columns becomes a *key*
(and, on text, is checked once more on the candidates), what ``code`` understands is
*compiled* into the loop, and the rest is *refined*: evaluated over the candidates
that the loop lets through.  The filters on one stream that are not compiled become one
computed lane before a tuple is stored, NULL where a row does not pass: it then goes
the way of a row without a key.

What is compiled is limited, since each conjunct has a bit in a mask and costs time to
compile.  Keys come first, then what binds streams to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from anabranch.core.lanes import fits_word, kind_of
from anabranch.core.predicate import EVERYTHING, NO_SPAN, Predicate
from anabranch.core.program import FILTER, TIME, Band, Conjunct, Lane, Program, lane_word, null_mark
from anabranch.core.records import TIME_LANE
from anabranch.plan import bands
from anabranch.plan.code import Coder, NotCompiled, Scalar
from anabranch.plan.functions import Compiled, Compiler, check_call
from anabranch.plan.query import Join

MOST_COMPILED = 62  # conjuncts have one bit each in a mask
MOST_TERMS = 128  # comparisons in all of them: so many take seconds to compile


@dataclass(frozen=True)
class Refined:
    """A conjunct that is evaluated over candidates, and why it is not compiled."""

    condition: exp.Expr
    why: str


@dataclass(frozen=True)
class Lowered:
    """A join ready for an operator, and what the runtime still has to do around it."""

    join: Join
    program: Program
    computed: tuple[tuple[int, int, tuple[exp.Expr, ...]], ...]  # (stream, lane, filters that it is the outcome of)
    side: tuple[tuple[str, ...], ...]  # by stream, the columns that are no words
    refined: tuple[Refined, ...]
    compiled: tuple[str, ...]
    functions: tuple[Compiled, ...]

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The (alias, column) pairs that matches carry: what the shell reads and what the refinement needs."""
        return _columns(self.join, self.refined)

    def reads(self, s: int) -> frozenset[str]:
        """The columns of member *s* that the join has a use for; its time is one, unless it is stamped on arrival."""
        member = self.join.members[s]
        lanes = {lane.column for lane in self.program.lanes[s] if lane.kind != FILTER}
        carried = {name for alias, name in self.columns if alias == member.alias}
        filtered = {
            column.name
            for at, _, filters in self.computed
            if at == s
            for each in filters
            for column in each.find_all(exp.Column)
        }
        needed = lanes | carried | filtered | {*self.side[s], member.stream.time}
        return frozenset(needed & set(member.stream.schema.names))


def lower(join: Join, functions: Mapping[str, Callable[..., Any]] | None = None, timed: bool = True) -> Lowered:
    """The program of a join; *timed* if the least and the greatest time of a match are asked for."""
    work = _Work(join, Compiler({name.lower(): f for name, f in (functions or {}).items()}))
    for condition in sorted(join.where, key=work.rank):
        work.place(condition)
    work.add_filters()
    work.add_output()
    return work.lowered(timed)


class _Work:
    """The parts of a program while they are being collected; two passes, since code needs the final layout."""

    def __init__(self, join: Join, compiler: Compiler) -> None:
        self.join, self.compiler = join, compiler
        self.place_of = {member.alias: s for s, member in enumerate(join.members)}
        self.lanes: list[list[Lane]] = [[] for _ in join.members]
        self.keys: list[dict[int, int]] = []
        self.key_kinds: list[str] = []
        self.equalities: list[tuple[exp.Expr, int, int, int, int, int]] = []  # (text, key, stream, lane, stream, lane)
        self.conditions: list[exp.Expr] = []
        self.terms = 0  # of the conditions
        self.refined: list[Refined] = []
        self.filters: list[tuple[int, exp.Expr]] = []
        self.computed: list[tuple[int, int, tuple[exp.Expr, ...]]] = []
        self.output: list[tuple[int, int]] = []
        self.side: list[list[str]] = [[] for _ in join.members]

    # -- where each conjunct goes ------------------------------------------------

    def rank(self, condition: exp.Expr) -> int:
        """Where a condition stands in the order in which they are placed, as there may be too many."""
        return 0 if self._kind_of_key(condition) else 2 if len(self._streams(condition)) < 2 else 1

    def place(self, condition: exp.Expr) -> None:
        for call in self._calls(condition):
            check_call(call, self.compiler.functions[call.name.lower()])
        if len(self.conditions) + len(self.equalities) < MOST_COMPILED and self._is_key(condition):
            return
        streams = self._streams(condition)
        if not streams and self._calls(condition):
            self.refined.append(Refined(condition, "it reads no column"))
            return
        if not streams:  # true or false for all: as a filter on any one stream
            self.filters.append((0, condition))
            return
        try:
            if self._full:
                raise NotCompiled("there are too many conditions")
            if self.terms + _terms(condition) > MOST_TERMS:
                raise NotCompiled("it would take long to compile")
            Coder(self._trial, self.functions).true(condition)
            self.conditions.append(condition)
            self.terms += _terms(condition)
        except NotCompiled as reason:
            if len(streams) == 1 and not self._calls(condition):
                self.filters.append((next(iter(streams)), condition))
            else:
                self.refined.append(Refined(condition, str(reason)))

    @property
    def _full(self) -> bool:
        return len(self.conditions) + len(self.equalities) >= MOST_COMPILED

    def _kind_of_key(self, condition: exp.Expr) -> str | None:
        """The kind of key that an equality of two columns can be."""
        condition = condition.unnest()
        if not isinstance(condition, exp.EQ):
            return None
        a, b = condition.this.unnest(), condition.expression.unnest()
        if not (isinstance(a, exp.Column) and isinstance(b, exp.Column)) or a.table == b.table:
            return None
        return _key_kind(self._type(a), self._type(b))

    def _is_key(self, condition: exp.Expr) -> bool:
        kind = self._kind_of_key(condition)
        if kind is None or self._full:
            return False
        condition = condition.unnest()
        a, b = condition.this.unnest(), condition.expression.unnest()
        one, two = self.place_of[a.table], self.place_of[b.table]
        x, y = self._lane(one, a.name, kind), self._lane(two, b.name, kind)
        key = self._class(kind, one, x, two, y)
        if key is None:  # the key already has another column of one of the two: an ordinary condition
            if kind == "hash":
                self.refined.append(Refined(condition, "text is compared over candidates"))
                return True
            return False
        self.equalities.append((condition, key, one, x, two, y))
        if kind == "hash":
            self.refined.append(Refined(condition, "equal hashes are compared as text over candidates"))
        return True

    def _class(self, kind: str, one: int, x: int, two: int, y: int) -> int | None:
        """The key in which lane x of one stream and lane y of another are equal, merged or new."""
        homes = [
            next((i for i, key in enumerate(self.keys) if self.key_kinds[i] == kind and key.get(s) == lane), None)
            for s, lane in ((one, x), (two, y))
        ]
        merged = {one: x, two: y}
        for home in homes:
            if home is not None:
                for s, lane in self.keys[home].items():
                    if merged.setdefault(s, lane) != lane:
                        return None
        kept = next((home for home in homes if home is not None), None)
        if kept is None:
            self.keys.append(merged)
            self.key_kinds.append(kind)
            return len(self.keys) - 1
        self.keys[kept] = merged
        gone = homes[1]
        if gone is not None and gone != kept:
            self.keys[gone] = {}
            self.equalities = [(text, kept if key == gone else key, *rest) for text, key, *rest in self.equalities]  # type: ignore[misc]
        return kept

    # -- lanes and columns ---------------------------------------------------------

    def add_filters(self) -> None:
        for s in sorted({s for s, _ in self.filters}):
            mine = tuple(condition for at, condition in self.filters if at == s)
            self.computed.append((s, len(self.lanes[s]), mine))
            self.lanes[s].append(Lane(" AND ".join(each.sql(dialect="spark") for each in mine), FILTER))

    def add_output(self) -> None:
        for alias, name in _columns(self.join, tuple(self.refined)):
            s = self.place_of[alias]
            member, kind = self.join.members[s], self._type(exp.column(name, alias))
            if name == member.stream.time and kind in (pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
                self.output.append((s, TIME_LANE))
            elif fits_word(kind):
                self.output.append((s, self._lane(s, name, kind_of(kind))))
            elif name not in self.side[s]:
                self.side[s].append(name)

    def _lane(self, s: int, column: str, kind: str) -> int:
        lane = Lane(column, kind)
        if lane not in self.lanes[s]:
            self.lanes[s].append(lane)
        return self.lanes[s].index(lane)

    def _type(self, column: exp.Column) -> pa.DataType:
        member = self.join.members[self.place_of[column.table]]
        kind = member.stream.schema.field(column.name).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    def _streams(self, condition: exp.Expr) -> frozenset[int]:
        return frozenset(self.place_of[c.table] for c in condition.find_all(exp.Column))

    def _calls(self, condition: exp.Expr) -> list[exp.Anonymous]:
        return [call for call in condition.find_all(exp.Anonymous) if call.name.lower() in self.compiler.functions]

    @property
    def functions(self) -> dict[str, Any]:
        return {name: self.compiler.named(name) for name in self.compiler.functions}

    # -- code --------------------------------------------------------------------------

    def _trial(self, column: exp.Column) -> Scalar:
        """First pass: note the lanes that code needs."""
        self._where(column)
        return self._loaded(column)

    def _where(self, column: exp.Column) -> int | None:
        s = self.place_of[column.table]
        member, kind = self.join.members[s], self._type(column)
        if column.name == member.stream.time:
            return None
        if _scalar_kind(kind) is None:
            raise NotCompiled(f"{kind} columns are not compiled")
        return self._lane(s, column.name, kind_of(kind))

    def _loaded(self, column: exp.Column) -> Scalar:
        """Second pass: code that loads the column from its record."""
        s, lane, kind = self.place_of[column.table], self._where(column), self._type(column)
        if lane is None:
            integer = pa.types.is_integer(kind)
            return Scalar(f"word(arena, a{s} + {TIME})", (), "int" if integer else "time", kind.bit_width)
        word, (mark, bit) = lane_word(len(self.lanes[s]), lane), null_mark(lane)
        name, bits = _scalar_kind(kind) or ("", 0)
        load = f"{'real' if name == 'real' else 'word'}(arena, a{s} + {word})"
        code = f"({load} != 0)" if name == "bool" else load
        return Scalar(code, (f"((word(arena, a{s} + {mark}) >> {bit}) & 1) == 0",), name, bits)

    def lowered(self, timed: bool) -> Lowered:
        coder = Coder(self._loaded, self.functions)
        numbers = {old: new for new, old in enumerate(i for i, key in enumerate(self.keys) if key)}
        conjuncts, tests, texts = [], [], []
        for condition, key, one, x, two, y in self.equalities:
            conjuncts.append(Conjunct(frozenset((one, two)), condition.sql(dialect="spark"), numbers[key]))
            tests.append(f"word(arena, a{one} + {self._word(one, x)}) == word(arena, a{two} + {self._word(two, y)})")
        for condition in self.conditions:
            texts.append(condition.sql(dialect="spark"))
            conjuncts.append(Conjunct(self._streams(condition), texts[-1]))
            tests.append(coder.true(condition))
        found = self._bands(coder)
        functions = tuple((name, function.call) for name, function in sorted(self.compiler.used.items()))
        program = Program(
            windows=self.join.windows,
            lanes=tuple(tuple(lanes) for lanes in self.lanes),
            keys=tuple(tuple(key.get(s, -1) for s in range(len(self.lanes))) for key in self.keys if key),
            conjuncts=tuple(conjuncts),
            bands=tuple(band for band, _ in found),
            side=tuple(bool(columns) for columns in self.side),
            output=tuple(dict.fromkeys(self.output)),
            predicate=Predicate(_admit(conjuncts, tests), _span(found, self.place_of), functions),
            timed=timed,
        )
        return Lowered(
            self.join,
            program,
            tuple(self.computed),
            tuple(tuple(columns) for columns in self.side),
            tuple(self.refined),
            tuple(texts),
            tuple(self.compiler.used.values()),
        )

    def _word(self, s: int, lane: int) -> int:
        return lane_word(len(self.lanes[s]), lane)

    def _bands(self, coder: Coder) -> list[tuple[Band, list[bands.Term]]]:
        """For each stream without a key, the column with the most limits, two-sided ones first."""
        terms = [term for condition in self.conditions for term in bands.terms(condition, coder)]
        found = []
        for alias, s in self.place_of.items():
            mine: dict[int, list[bands.Term]] = {}
            for term in terms:
                lane = self._where(term.column) if term.column.table == alias else None
                if lane is not None:
                    mine.setdefault(lane, []).append(term)
            if mine and not any(s in key for key in self.keys):
                lane = max(mine, key=lambda lane: sum((t.low is not None) + (t.high is not None) for t in mine[lane]))
                given = tuple(frozenset(self.place_of[a] for a in term.given) for term in mine[lane])
                name = f"{alias}.{self.lanes[s][lane].column}"
                found.append((Band(s, lane, tuple(dict.fromkeys(given)), name), mine[lane]))
        return found


def _admit(conjuncts: list[Conjunct], tests: list[str]) -> str:
    if not tests:
        return EVERYTHING
    lines = ["", "def admit(mask, arena, at):"]
    for i, (conjunct, test) in enumerate(zip(conjuncts, tests, strict=True)):
        lines.append(f"    if mask & {1 << i}:")
        lines += [f"        a{s} = word(at, {s})" for s in sorted(conjunct.streams)]
        lines.append(f"        if not ({test}):\n            return False")
    return "\n".join([*lines, "    return True", ""])


def _span(found: list[tuple[Band, list[bands.Term]]], place_of: Mapping[str, int]) -> str:
    if not found:
        return NO_SPAN
    lines = ["", "def span(number, arena, at, out):", "    low, high = word(out, 0), word(out, 1)"]
    lines.append("    stream, bound = number & 255, number >> 8")
    for band, terms in found:
        lines.append(f"    if stream == {band.stream}:")
        for term in terms:
            given = sorted(place_of[alias] for alias in term.given)
            mask = sum(1 << s for s in given)
            lines.append(f"        if bound & {mask} == {mask}:")
            lines += [f"            a{s} = word(at, {s})" for s in given]
            lines.append(f"            if {' and '.join(term.holds) or 'True'}:")
            if term.low is not None:
                lines.append(f"                low = max(low, {term.low})")
            if term.high is not None:
                lines.append(f"                high = min(high, {term.high})")
            lines.append("            else:\n                high = low - 1 if low > -0x8000000000000000 else low")
    return "\n".join([*lines, "    keep(out, 0, low)", "    keep(out, 1, high)", "    return 0", ""])


def _columns(join: Join, refined: tuple[Refined, ...]) -> tuple[tuple[str, str], ...]:
    needed = [(c.table, c.name) for r in refined for c in r.condition.find_all(exp.Column)]
    return tuple(dict.fromkeys([*join.columns, *needed]))


def _terms(condition: exp.Expr) -> int:
    """How many comparisons a condition is made of."""
    return sum(len(each.expressions) if isinstance(each, exp.In) else 1 for each in condition.find_all(exp.Predicate))


def _scalar_kind(kind: pa.DataType) -> tuple[str, int] | None:
    """What a column of this type is to the code, and its bits."""
    if pa.types.is_signed_integer(kind):
        return "int", kind.bit_width
    if pa.types.is_unsigned_integer(kind) and kind != pa.uint64():
        return "int", 2 * kind.bit_width
    if kind == pa.float64():
        return "real", 64
    if kind == pa.bool_():
        return "bool", 1
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return "time", 64
    return ("date", 32) if kind == pa.date32() else None


def _key_kind(a: pa.DataType, b: pa.DataType) -> str | None:
    """The kind of lane in which columns of these types can be compared for equality, if there is one."""

    def text(kind: pa.DataType) -> bool:
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    def binary(kind: pa.DataType) -> bool:
        return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))

    def integer(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) and kind != pa.uint64())

    if (text(a) and text(b)) or (binary(a) and binary(b)):
        return "hash"
    if integer(a) and integer(b):
        return "int"
    number = (integer(a) or pa.types.is_floating(a)) and (integer(b) or pa.types.is_floating(b))
    if number:
        return "key"
    same = pa.types.is_boolean(a) or a == pa.date32()
    if (a == b and same) or (
        pa.types.is_timestamp(a) and pa.types.is_timestamp(b) and a.unit == b.unit == "us" and bool(a.tz) == bool(b.tz)
    ):
        return "int"
    return None
