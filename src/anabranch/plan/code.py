"""From a predicate in SQL to the Python that numba compiles into the loop.

SQL's logic has three values, the loop needs one question: is it TRUE?  ``true`` and
``false`` answer it for each node, so that NULL needs no value of its own; a scalar
is a piece of code together with the conditions under which it has a value (its
operands are not NULL, nothing overflows, nothing is divided by zero).  Whatever is
not understood here raises ``NotCompiled``, and the conjunct is evaluated over the
candidates instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor

from sqlglot import exp

SECONDS = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6}
SECONDS |= {"DAY": 86_400 * 10**6, "WEEK": 7 * 86_400 * 10**6}

INTEGERS = {
    exp.DataType.Type.TINYINT: 8,
    exp.DataType.Type.SMALLINT: 16,
    exp.DataType.Type.INT: 32,
    exp.DataType.Type.BIGINT: 64,
}
MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE, exp.EQ: exp.EQ, exp.NEQ: exp.NEQ,
}  # fmt: skip
COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.LT: ("<", "lt"), exp.LTE: ("<=", "le"), exp.GT: (">", "gt"), exp.GTE: (">=", "ge"), exp.EQ: ("==", "eq"),
    exp.NEQ: ("!=", "ne"),
}  # fmt: skip
SUMS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Add: ("+", "add_ok"), exp.Sub: ("-", "sub_ok"), exp.Mul: ("*", "mul_ok"),
}  # fmt: skip
OF_REALS: dict[type[exp.Expr], tuple[str, str]] = {  # a function of one double, and when it has a value
    exp.Sqrt: ("math.sqrt({0}) if {0} >= 0.0 else math.nan", ""),
    exp.Exp: ("np.exp({0})", ""),
    exp.Ln: ("math.log({0})", "not ({0}) <= 0.0"),  # of NaN it is NaN
    exp.Sin: ("np.sin({0})", ""),
    exp.Cos: ("np.cos({0})", ""),
    exp.Tan: ("np.tan({0})", ""),
    exp.Atan: ("np.arctan({0})", ""),
}


class NotCompiled(Exception):
    """This expression has no code here; the reason is for ``explain``."""


@dataclass(frozen=True)
class Scalar:
    """Code for a value, the conditions under which it has one (in order), and what it is.

    *kind* is ``int`` (of so many *bits*), ``real``, ``bool``, ``time`` (microseconds),
    ``date`` (days), ``interval`` (microseconds) or ``decimal`` (a literal).
    """

    code: str
    holds: tuple[str, ...] = ()
    kind: str = "int"
    bits: int = 64
    literal: Decimal | None = None


Columns = Callable[[exp.Column], Scalar]


@dataclass(frozen=True)
class Coder:
    """Writes code for expressions over these columns and compiled functions (by name: the kind of their result)."""

    column: Columns
    functions: Mapping[str, Callable[[tuple[str, ...]], tuple[str, str]]]

    # -- logic ---------------------------------------------------------------

    def true(self, e: exp.Expr) -> str:
        """Code for *e* IS TRUE."""
        return self._logic(e, True)

    def false(self, e: exp.Expr) -> str:
        """Code for *e* IS FALSE."""
        return self._logic(e, False)

    def _logic(self, e: exp.Expr, wanted: bool) -> str:
        if isinstance(e, exp.Paren):
            return self._logic(e.this, wanted)
        if isinstance(e, exp.Not):
            return self._logic(e.this, not wanted)
        if isinstance(e, exp.And | exp.Or):
            word = "and" if isinstance(e, exp.And) == wanted else "or"
            return "(" + f" {word} ".join(self._logic(each, wanted) for each in e.flatten()) + ")"
        if isinstance(e, exp.Boolean):
            return str(bool(e.this) == wanted)
        if isinstance(e, exp.Null):
            return "False"
        if isinstance(e, exp.Between):
            low = exp.GTE(this=e.this.copy(), expression=e.args["low"].copy())
            high = exp.LTE(this=e.this.copy(), expression=e.args["high"].copy())
            return self._logic(exp.And(this=low, expression=high), wanted)
        if isinstance(e, exp.In) and e.expressions and not e.args.get("query"):
            word = "or" if wanted else "and"
            each = [self._compared(exp.EQ, e.this, item, wanted) for item in e.expressions]
            return "(" + f" {word} ".join(each) + ")"
        if isinstance(e, exp.Is) and isinstance(e.expression, exp.Null):
            has = _all(self.scalar(e.this).holds)
            return f"(not {has})" if wanted else has
        if isinstance(e, exp.NullSafeEQ):
            return self._null_safe(e, wanted)
        if type(e) in COMPARISONS:
            return self._compared(type(e), e.this, e.expression, wanted)
        value = self.scalar(e)
        if value.kind != "bool":
            raise NotCompiled(f"{e.sql()} is no condition")
        return _all((*value.holds, value.code if wanted else f"not {value.code}"))

    def _null_safe(self, e: exp.NullSafeEQ, wanted: bool) -> str:
        left, right = self.scalar(e.this), self.scalar(e.expression)
        both, equal = _all((*left.holds, *right.holds)), self._compared(exp.EQ, e.this, e.expression, True)
        neither = f"(not {_all(left.holds)} and not {_all(right.holds)})"
        same = f"(({both} and {equal}) or {neither})"
        return same if wanted else f"(not {same})"

    def _compared(self, operator: type[exp.Expr], a: exp.Expr, b: exp.Expr, wanted: bool) -> str:
        left, right = self.scalar(a), self.scalar(b)
        if left.kind == "decimal" and right.kind != "decimal":
            left, right, operator = right, left, MIRRORED[operator]
        sign, function = COMPARISONS[operator]
        holds = (*left.holds, *right.holds)
        if left.kind == "int" and right.kind == "decimal":
            return _all((*holds, _with_decimal(left.code, operator, right.literal, wanted)))
        if "real" in (left.kind, right.kind):
            test = f"{function}({_real(left)}, {_real(right)})"
        elif left.kind == right.kind and left.kind in ("int", "time", "date", "bool", "interval"):
            test = f"{left.code} {sign} {right.code}"
        else:
            raise NotCompiled(f"no compiled comparison of {left.kind} with {right.kind}")
        return _all((*holds, test if wanted else f"not ({test})"))

    # -- scalars ---------------------------------------------------------------

    def scalar(self, e: exp.Expr) -> Scalar:
        """Code for the value of *e*."""
        if isinstance(e, exp.Paren):
            return self.scalar(e.this)
        if isinstance(e, exp.Column):
            return self.column(e)
        if isinstance(e, exp.Literal):
            return _literal(e)
        if isinstance(e, exp.Boolean):
            return Scalar(str(bool(e.this)), kind="bool")
        if isinstance(e, exp.Interval):
            return _interval(e)
        if isinstance(e, exp.Neg):
            return self._negated(self.scalar(e.this))
        if isinstance(e, exp.Add | exp.Sub | exp.Mul):
            return self._arithmetic(e, self.scalar(e.this), self.scalar(e.expression))
        if isinstance(e, exp.Div | exp.Mod | exp.IntDiv):
            return self._division(e, self.scalar(e.this), self.scalar(e.expression))
        if isinstance(e, exp.Abs):
            x = self.scalar(e.this)
            if x.kind == "int":
                return Scalar(f"abs({x.code})", (*x.holds, f"{x.code} != {-(1 << (x.bits - 1))}"), "int", x.bits)
            return Scalar(f"abs({_real(x)})", x.holds, "real")
        if (isinstance(e, exp.Cast) and type(e) is exp.Cast) or isinstance(e, exp.TryCast):
            return self._cast(e, self.scalar(e.this))
        if isinstance(e, exp.Pow):
            x, y = self.scalar(e.this), self.scalar(e.expression)
            return Scalar(f"power({_real(x)}, {_real(y)})", (*x.holds, *y.holds), "real")
        if type(e) in OF_REALS:
            x, (code, holds) = self.scalar(e.this), OF_REALS[type(e)]
            given = (*x.holds, holds.format(_real(x))) if holds else x.holds
            return Scalar(f"({code.format(_real(x))})", given, "real")
        if isinstance(e, exp.Anonymous) and e.name.lower() in self.functions:
            return self._function(e)
        raise NotCompiled(f"{e.sql(dialect='spark')} is not compiled")

    def _negated(self, x: Scalar) -> Scalar:
        if x.literal is not None:
            return Scalar(f"(-{x.code})", (), x.kind, x.bits, -x.literal)
        if x.kind == "int":
            return Scalar(f"(-{x.code})", (*x.holds, f"{x.code} != {-(1 << (x.bits - 1))}"), "int", x.bits)
        return Scalar(f"(-{_real(x)})", x.holds, "real")

    def _arithmetic(self, e: exp.Expr, a: Scalar, b: Scalar) -> Scalar:
        sign, check = SUMS[type(e)]
        kinds, holds = (a.kind, b.kind), (*a.holds, *b.holds)
        code = f"({a.code} {sign} {b.code})"
        if kinds == ("int", "int"):
            bits = max(a.bits, b.bits)
            narrow = (f"fits({code}, {bits})",) if bits < 64 else ()
            return Scalar(code, (*holds, f"{check}({a.code}, {b.code})", *narrow), "int", bits)
        if "real" in kinds and set(kinds) <= {"real", "int", "decimal"}:
            return Scalar(f"({_real(a)} {sign} {_real(b)})", holds, "real")
        if sign != "*" and (kinds == ("time", "interval") or (sign == "+" and kinds == ("interval", "time"))):
            return Scalar(code, (*holds, f"{check}({a.code}, {b.code})"), "time")
        if sign == "-" and kinds == ("time", "time"):
            return Scalar(code, (*holds, f"{check}({a.code}, {b.code})"), "interval")
        raise NotCompiled(f"no compiled arithmetic on {a.kind} and {b.kind}")

    def _division(self, e: exp.Expr, a: Scalar, b: Scalar) -> Scalar:
        kinds, holds = (a.kind, b.kind), (*a.holds, *b.holds)
        if not set(kinds) <= {"real", "int", "decimal"} or ("decimal" in kinds and "real" not in kinds):
            raise NotCompiled(f"no compiled division of {a.kind} by {b.kind}")
        if isinstance(e, exp.Div) or "real" in kinds:
            if isinstance(e, exp.IntDiv):
                raise NotCompiled("div of doubles is not compiled")
            x, y = _real(a), _real(b)
            code = f"({x} / {y})" if isinstance(e, exp.Div) else f"np.fmod({x}, {y})"
            return Scalar(code, (*holds, f"{y} != 0.0"), "real")
        if isinstance(e, exp.IntDiv):
            return Scalar(f"idiv({a.code}, {b.code})", (*holds, f"idiv_ok({a.code}, {b.code})"), "int", 64)
        return Scalar(f"imod({a.code}, {b.code})", (*holds, f"{b.code} != 0"), "int", max(a.bits, b.bits))

    def _cast(self, e: exp.Expr, x: Scalar) -> Scalar:
        target = e.args["to"].this
        if target == exp.DataType.Type.DOUBLE and x.kind in ("int", "real", "decimal"):
            return Scalar(_real(x), x.holds, "real")
        if target in INTEGERS and x.kind in ("int", "real"):
            bits = INTEGERS[target]
            code, holds = x.code, x.holds
            if x.kind == "real":
                code, holds = f"to_int({x.code})", (*holds, f"to_int_ok({x.code})")
            return Scalar(code, (*holds, f"fits({code}, {bits})") if bits < 64 else holds, "int", bits)
        raise NotCompiled(f"no compiled cast to {e.args['to'].sql()}")

    def _function(self, e: exp.Anonymous) -> Scalar:
        given = [self.scalar(a) for a in e.expressions]
        for value, node in zip(given, e.expressions, strict=True):
            if value.kind not in ("int", "real", "bool", "decimal"):
                raise NotCompiled(f"{node.sql(dialect='spark')} is no number")
        code = [_real(v) if v.kind in ("real", "decimal") else v.code for v in given]
        name, kind = self.functions[e.name.lower()](tuple("real" if v.kind == "decimal" else v.kind for v in given))
        call = f"{name}({', '.join(code)})"
        return Scalar(call, tuple(h for v in given for h in v.holds), kind)


def _all(conditions: tuple[str, ...]) -> str:
    kept = list(dict.fromkeys(conditions))
    return "(" + " and ".join(kept) + ")" if kept else "True"


def _real(x: Scalar) -> str:
    if x.kind == "real":
        return x.code
    if x.literal is not None:
        return repr(float(x.literal))
    if x.kind in ("int", "decimal"):
        return f"float({x.code})"
    raise NotCompiled(f"{x.kind} is no number")


def _literal(e: exp.Literal) -> Scalar:
    if e.is_string:
        raise NotCompiled("text is not compiled")
    text = e.this
    if "e" in text.lower():
        return Scalar(repr(float(text)), kind="real", literal=None)
    number = Decimal(text)
    if "." in text:
        return Scalar(repr(float(number)), kind="decimal", literal=number)
    value = int(number)
    if value >= 1 << 63:
        raise NotCompiled("a literal beyond 64 bits")
    return Scalar(text, kind="int", bits=32 if value < 1 << 31 else 64, literal=number)


def _interval(e: exp.Interval) -> Scalar:
    unit = e.text("unit").upper().removesuffix("S")
    if unit not in SECONDS or not isinstance(e.this, exp.Literal):
        raise NotCompiled(f"{e.sql()} is not compiled")
    ticks = Decimal(e.this.this) * SECONDS[unit]
    if ticks != int(ticks):
        raise NotCompiled(f"{e.sql()} is no whole number of microseconds")
    return Scalar(str(int(ticks)), kind="interval")


def _with_decimal(code: str, operator: type[exp.Expr], literal: Decimal | None, wanted: bool) -> str:
    """An integer against a decimal, exactly."""
    assert literal is not None
    whole = literal == int(literal)
    if operator in (exp.EQ, exp.NEQ) and not whole:
        return str((operator is exp.NEQ) == wanted)
    sign = COMPARISONS[operator][0]
    edge = floor(literal) if operator in (exp.LTE, exp.GT) else ceil(literal)
    if not -(1 << 63) <= edge < 1 << 63:
        raise NotCompiled("a literal beyond 64 bits")
    test = f"{code} {sign} {edge}"
    return test if wanted else f"not ({test})"
