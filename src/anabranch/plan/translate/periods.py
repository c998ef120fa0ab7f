"""Spark's ``window(ts, '10 seconds', '5 seconds')``: the periods that a time lies in.

Without a slide a time lies in one period, a struct of its start and end.  With a slide it lies
in several: the row is repeated, once for each, by a cross join with the numbers of periods.  A
row without a time lies in none and is left out, as in Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from anabranch.plan.sql.resolve import walk
from anabranch.plan.translate import types
from anabranch.plan.translate.intervals import duration, micros, moment
from anabranch.plan.translate.operands import literal
from anabranch.plan.translate.times import stamp
from anabranch.plan.translate.translator import Rules, Translator, told_of
from anabranch.plan.translate.value import Unfit, Value

SLIDE = '"the slide of window()"'


@dataclass(frozen=True)
class Period:
    time: Value
    size: int
    slide: int
    start: int

    @classmethod
    def of(cls, t: Translator, node: exp.Anonymous) -> Period:
        if not 2 <= len(node.expressions) <= 4:
            raise Unfit("takes a time and a duration", "write window(ts, '5 seconds')")
        time, *texts = (t.rows(each) for each in node.expressions)
        lengths = [duration(literal(text, "a duration")) for text in texts]
        size, slide, start = [*lengths, lengths[0], 0][:3] if len(lengths) == 1 else [*lengths, 0][:3]
        if not 0 < slide <= size or abs(start) >= slide:
            raise Unfit("has no such slide", "a slide is positive and no longer than the window, a start is within it")
        if time.kind in types.INTEGERS:
            raise Unfit(
                f"takes a time, not {types.name(time.kind)}", "group integers by their quotient, as in ts div 5"
            )
        return cls(stamp(t, time), size, slide, start)

    @property
    def repeats(self) -> int:
        """How many periods may hold a time."""
        return -(-self.size // self.slide)

    @property
    def struct(self) -> str:
        at = micros(self.time)
        past = f"((({at} - {self.start}) % {self.slide} + {self.slide}) % {self.slide})"
        start = f"({at} - {past})"
        if self.repeats > 1:
            start = f"({start} - {SLIDE}.k * {self.slide})"
        return f'struct_pack(start := {moment(start)}, "end" := {moment(f"{start} + {self.size}")})'

    @property
    def holds(self) -> str:
        """Whether the row's time lies in the period at all."""
        known = f"{self.time} IS NOT NULL"
        if self.size % self.slide == 0:
            return known
        return f"{known} AND {self.time} < struct_extract({self.struct}, 'end')"


def window(t: Translator, node: exp.Anonymous) -> Value:
    if t.keys is not None:
        raise Unfit("is neither grouped nor aggregated", "add it to GROUP BY")
    period = Period.of(t, node)
    kind = types.WINDOW_NTZ if period.time.kind == types.TIMESTAMP_NTZ else types.WINDOW
    return t.sound(period.struct, kind, period.time)


def period_of(t: Translator, clauses: Iterable[exp.Expr]) -> Period | None:
    """The one ``window(...)`` of a SELECT; None if there is none."""
    calls = (part for clause in clauses for part in walk(clause) if isinstance(part, exp.Anonymous))
    found = set()
    for call in calls:
        if call.name.lower() == "window":
            with told_of(call):
                found.add(Period.of(t, call))
    if len(found) > 1:
        raise Unfit("stands beside another window()", "a SELECT has one; nest the other in a subquery")
    return found.pop() if found else None


RULES: Rules = {"window": window}
