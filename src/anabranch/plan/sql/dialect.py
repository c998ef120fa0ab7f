"""The SQL dialect: Spark's, and window constraints.

Three additions to sqlglot's Spark parser, no more: a clause of constraints where Spark
has ``WINDOW name AS (...)``, brackets after a stream in FROM, and the user's Python
functions, which hide SQL functions of their name.  All is read from tokens.  Constraints
are left in the tree as values (``select.args["constraints"]``, ``table.args["bracket"]``)
for ``sql`` to take out.  Expressions remember their place and their span of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, NoReturn, TypeVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

from anabranch.core.errors import Refused
from anabranch.plan.sql.clauses import Band, Bracket, Constraint, Directed, Extent, Place, Range, Rows, Width, Word

_E = TypeVar("_E", bound=exp.Expr | None)

# what follows WINDOW in a constraint; a name follows in Spark's own clause
_CONSTRAINT = {TokenType.L_PAREN, TokenType.EQ, TokenType.LT, TokenType.LTE, TokenType.BETWEEN}
_CONDITION = {TokenType.WHERE, TokenType.ON, TokenType.AND, TokenType.OR, TokenType.NOT}
_UNIT_KEYWORDS = {"YEAR", "YEARS", "MONTH", "MONTHS", "WEEK", "WEEKS", "DAY", "DAYS", "HOUR", "HOURS"}
MOST_ROWS = 1 << 62  # so that a position and a count add up within int64
_LENGTHS = "write 5 SECONDS, INTERVAL '5' SECONDS, UNBOUNDED, or a plain number for integer time"


class AnabranchParser(SparkParser):
    """Spark's parser with window constraints."""

    QUERY_MODIFIER_PARSERS: ClassVar = {
        **SparkParser.QUERY_MODIFIER_PARSERS,
        TokenType.WINDOW: lambda self: self._parse_window_modifier(),
    }

    python_functions: frozenset[str] = frozenset()  # in lower case; set on the instance

    # -- WINDOW and DWINDOW -----------------------------------------------------

    def _parse_window_modifier(self) -> tuple[str, object]:
        directed = self._curr.text.upper() == "DWINDOW"
        if directed or self._next.token_type in _CONSTRAINT:
            return "constraints", self._parse_window_constraints()
        after = self._index + 2
        if after >= self._tokens_size or self._tokens[after].token_type != TokenType.ALIAS:
            self._refuse(
                "WINDOW stands before a window constraint or the name of a window",
                "write WINDOW = 5 SECONDS, WINDOW (A, B) = 5 SECONDS, or WINDOW w AS (...)",
            )
        return "windows", self._parse_window_clause()

    def _parse_window_constraints(self) -> tuple[Constraint, ...]:
        constraints = [self._parse_window_constraint()]
        while self._match(TokenType.AND):
            if self._curr.token_type != TokenType.WINDOW:
                self._refuse("the WINDOW clause holds window constraints only", "write other conditions in WHERE or ON")
            constraints.append(self._parse_window_constraint())
        if self._curr.token_type == TokenType.OR:
            self._refuse("window constraints are joined by AND", "write two queries joined by UNION ALL")
        return tuple(constraints)

    def _parse_window_constraint(self) -> Constraint:
        first = self._curr
        name = first.text.upper()
        self._advance()
        pair = self._parse_pair()
        if name == "DWINDOW" and pair is None:
            self._refuse("DWINDOW needs its two streams", "write DWINDOW (A, B) = 5 SECONDS: A first, then B")
        if self._match(TokenType.BETWEEN):
            if name == "DWINDOW":
                self._refuse("DWINDOW has no BETWEEN", "write WINDOW (A, B) BETWEEN 0 SECONDS AND 5 SECONDS", first)
            if pair is None:
                self._refuse("WINDOW BETWEEN needs its two streams", "write WINDOW (A, B) BETWEEN ... AND ...", first)
            low = self._parse_extent()
            if not self._match(TokenType.AND):
                self._refuse("BETWEEN needs two ends", "write WINDOW (A, B) BETWEEN -3 SECONDS AND 5 SECONDS")
            high = self._parse_extent()
            return Band(pair, low, high, *self._since(first))
        strict = self._match(TokenType.LT)
        if not strict and not self._match_set((TokenType.EQ, TokenType.LTE)):
            self._refuse(f"{name} needs =, < or BETWEEN", "write WINDOW (A, B) = 5 SECONDS")
        extent = self._parse_extent()
        if name == "DWINDOW":
            assert pair is not None
            return Directed(pair, extent, strict, *self._since(first))
        return Width(pair, extent, strict, *self._since(first))

    def _parse_pair(self) -> tuple[Word, Word] | None:
        first = self._curr
        if not self._match(TokenType.L_PAREN):
            return None
        words = []
        while True:
            token = self._curr
            name = self._parse_id_var(any_token=False)
            if name is None:
                self._refuse("a stream's alias is missing", "write WINDOW (A, B) = 5 SECONDS")
            words.append(Word(name.name, token_place(token)))
            if not self._match(TokenType.COMMA):
                break
        if not self._match(TokenType.R_PAREN):
            self._refuse("the parenthesis of WINDOW does not close", "write WINDOW (A, B) = 5 SECONDS")
        if len(words) != 2:
            self._refuse(
                f"WINDOW binds two streams, not {len(words)}",
                "write one constraint for each pair, joined by AND, or WINDOW = w for all pairs",
                first,
            )
        return words[0], words[1]

    def _parse_extent(self) -> Extent:
        first = self._curr
        sign = self._parse_sign()
        interval = self._match(TokenType.INTERVAL)
        sign *= self._parse_sign()
        unit = ""
        if self._match_text_seq("UNBOUNDED"):
            number = "Infinity"
        elif self._match(TokenType.NUMBER):
            number = self._prev.text
        elif interval and self._match(TokenType.STRING):
            number, _, unit = self._prev.text.strip().partition(" ")
        else:
            self._refuse("the length of the window is missing", _LENGTHS)
        try:
            value = Decimal(number) * sign
        except InvalidOperation:
            self._refuse(f"'{number}' is not a number", _LENGTHS, first)
        word = self._curr.text.upper()
        if not unit and word != "SLIDE" and (self._curr.token_type == TokenType.VAR or word in _UNIT_KEYWORDS):
            self._advance()
            unit = self._prev.text
        if self._curr.token_type in (TokenType.NUMBER, TokenType.STRING):
            self._refuse("a window is one number and one unit", "write 90 MINUTES for 1 HOUR 30 MINUTES", first)
        text, at = self._since(first)
        return Extent(value, unit.strip(), text, at)

    def _parse_sign(self) -> int:
        sign = 1
        while self._match_set((TokenType.DASH, TokenType.PLUS)):
            sign = -sign if self._prev.token_type == TokenType.DASH else sign
        return sign

    # -- brackets in FROM -------------------------------------------------------

    def _parse_table_parts(
        self, schema: bool = False, is_db_reference: bool = False, wildcard: bool = False, fast: bool = False
    ) -> exp.Table | exp.Dot | None:
        first = self._curr
        table = super()._parse_table_parts(schema, is_db_reference, wildcard, fast)
        # the fast path gives up before a bracket
        if not fast and isinstance(table, exp.Table) and self._match(TokenType.L_BRACKET):
            table.set("bracket", self._parse_stream_window(first))
        return table

    def _parse_stream_window(self, first: Token) -> Bracket:
        word = self._curr
        text = word.text.upper()
        if text == "NOW":
            self._refuse("[NOW] windows are not supported", "write [RANGE 0 SECONDS]")
        if text.startswith("PARTITION"):
            self._refuse("PARTITION BY windows are not supported", "write [ROWS 100] or [RANGE 1 HOUR]")
        if text not in ("RANGE", "ROWS"):
            self._refuse("the brackets hold no window", "write [RANGE 1 HOUR], [ROWS 100] or [RANGE UNBOUNDED]")
        self._advance()
        bracket: Bracket
        if text == "RANGE":
            extent = self._parse_extent()
            self._close_bracket()
            bracket = Range(extent, *self._since(first))
        else:
            number = self._curr
            if not self._match(TokenType.NUMBER) or not number.text.isdigit() or int(number.text) < 1:
                self._refuse("ROWS counts tuples, from 1", "write [ROWS 100]", number)
            if int(number.text) > MOST_ROWS:
                self._refuse("ROWS counts more tuples than there can be", "write [RANGE UNBOUNDED]", number)
            self._close_bracket()
            bracket = Rows(int(number.text), *self._since(first))
        if self._curr.token_type == TokenType.L_BRACKET:
            self._refuse("a stream has one window in brackets", "write the other as WINDOW (A, B) = 5 SECONDS")
        return bracket

    def _close_bracket(self) -> None:
        if self._curr.text.upper() == "SLIDE":
            self._refuse("SLIDE windows are not supported", "every match is emitted when it is complete")
        if not self._match(TokenType.R_BRACKET):
            self._refuse("the brackets do not close after the window", "write [RANGE 1 HOUR] or [ROWS 100]")

    def _parse_table_alias(self, alias_tokens: object = None) -> exp.TableAlias | None:
        alias = super()._parse_table_alias(alias_tokens)  # type: ignore[arg-type]
        if alias and self._curr.token_type == TokenType.L_BRACKET:
            self._refuse("a stream's window stands before its alias", f"write FROM stream [RANGE 1 HOUR] {alias.name}")
        return alias

    # -- expressions ------------------------------------------------------------

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        if self._next.token_type == TokenType.WINDOW:
            self._next.token_type = TokenType.VAR  # GROUP BY window(...), not the next clause
        group = super()._parse_group(skip_group_by_token)
        if group and not any(group.args.values()):
            self._refuse("GROUP BY has no key", "write GROUP BY A.x, or GROUP BY ALL", self._prev)
        return group

    def _parse_function_call(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        own = self._curr.text.lower() in self.python_functions
        return super()._parse_function_call(functions, anonymous or own, optional_parens, any_token)

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        first = self._curr
        if (
            first.token_type == TokenType.WINDOW
            and self._prev.token_type in _CONDITION
            and self._next.token_type in _CONSTRAINT
        ):
            self._refuse(
                "a window constraint is not a condition",
                "the WINDOW clause stands of its own before or after WHERE, with no AND between them",
            )
        return self._spanning(super()._parse_equality(parse_is), first)

    def _parse_disjunction(self) -> exp.Expr | None:
        first = self._curr
        return self._spanning(super()._parse_disjunction(), first)

    def _parse_as_command(self, start: Token) -> exp.Command:
        """What sqlglot does not understand it would keep as a bare command, with a warning: here it is an error."""
        self.raise_error("Unexpected token")
        raise AssertionError("errors are raised at once")

    def _spanning(self, node: _E, first: Token) -> _E:
        if node is not None:
            node.meta.setdefault("at", token_place(first))
            node.meta.setdefault("span", (first.start, self._prev.end + 1))
        return node

    def _since(self, first: Token) -> tuple[str, Place]:
        """The text from *first* to the last token read, on one line, and its place."""
        return " ".join(self._find_sql(first, self._prev).split()), token_place(first)

    def _refuse(self, what: str, hint: str, token: Token | None = None) -> NoReturn:
        at = token or self._curr
        raise Refused(what, hint, token_place(at if at.token_type != TokenType.SENTINEL else self._prev))


class Anabranch(Spark):
    """Spark SQL with WINDOW, DWINDOW and brackets in FROM."""

    class Tokenizer(Spark.Tokenizer):
        KEYWORDS: ClassVar = {**Spark.Tokenizer.KEYWORDS, "DWINDOW": TokenType.WINDOW}
        STRING_ESCAPES: ClassVar = ["\\", "'", '"']  # a doubled quote stands for one, as in Spark 4

    Parser = AnabranchParser


def token_place(token: Token) -> Place:
    """Line and column where *token* starts (sqlglot's column is where it ends)."""
    return token.line, max(1, token.col - (token.end - token.start))
