"""From text to the one query in it: syntax, and which statements are queries at all."""

from __future__ import annotations

from sqlglot import ParseError, Token, TokenError, TokenType, exp

from anabranch.core.errors import Refused
from anabranch.plan.sql.dialect import Anabranch, AnabranchParser, token_place
from anabranch.plan.sql.names import place

_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.CREATE, TokenType.FROM}
_BREAKS = {TokenType.FROM, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.COMMA}
_OPENING = _BREAKS | {TokenType.SELECT, TokenType.L_PAREN}
_CLOSING = _BREAKS | {TokenType.WHERE, TokenType.R_PAREN}


def statement(text: str, functions: frozenset[str]) -> exp.Expr:
    """The query in *text*; *functions* are the user's, in lower case."""
    dialect = Anabranch()
    try:
        tokens = dialect.tokenize(text)
        _check_start(tokens)
        _check_commas(tokens)
        parser = _parser(dialect)
        parser.python_functions = functions
        found = [node for node in parser.parse(tokens, text) if node and not isinstance(node, exp.Semicolon)]
    except TokenError as error:
        raise _unreadable(error, text) from None
    except ParseError as error:
        raise _syntax_error(error) from None
    except RecursionError:
        raise Refused("the query is nested too deeply", "split it into CTEs") from None
    if len(found) != 1:
        raise Refused(f"there are {len(found)} statements", "write one query", place(found[1]))
    return _query(found[0])


def _parser(dialect: Anabranch) -> AnabranchParser:
    try:
        parser = dialect.parser()
    except TypeError:
        # its compiled build lets no class of others inherit
        raise Refused("the compiled sqlglot knows no dialect but its own", "uninstall sqlglotc") from None
    assert isinstance(parser, AnabranchParser)
    return parser


def _check_start(tokens: list[Token]) -> None:
    words = [token for token in tokens if token.token_type != TokenType.SEMICOLON]
    if not words:
        raise Refused("the query is empty", "write SELECT ... FROM ... WINDOW ...")
    kinds = {token.text.upper() for token in words[1:6]}
    creates = words[0].token_type == TokenType.CREATE
    if words[0].token_type not in _STARTS or (creates and "VIEW" not in kinds):
        start = " ".join(token.text for token in words[: 2 if creates else 1])
        raise Refused(
            f"a query starts with SELECT, WITH or CREATE VIEW, not '{start}'",
            "write SELECT ... FROM ... WINDOW ...",
            token_place(words[0]),
        )


def _check_commas(tokens: list[Token]) -> None:
    """Refuse a comma with nothing on one side, which sqlglot passes over."""
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.COMMA:
            before = tokens[i - 1].token_type if i else TokenType.SELECT
            after = tokens[i + 1].token_type if i + 1 < len(tokens) else TokenType.FROM
            if before in _OPENING or after in _CLOSING:
                raise Refused("syntax error near ','", "something is missing beside it", token_place(token))


def _query(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Create):
        if isinstance(node.this, exp.Schema):
            raise Refused("a view here has no list of columns", "name them in the SELECT list", place(node.this))
        node = node.expression
    if not isinstance(node, exp.Query):
        raise Refused("the statement is no query", "write SELECT ... FROM ... WINDOW ...")
    node.pop()
    return node


def _unreadable(error: TokenError, text: str) -> Refused:
    """sqlglot says ``Missing ' from line:offset`` of what does not close, and nothing of use else."""
    what, _, where = str(error.__cause__ or error).partition(" from ")
    offset = where.rpartition(":")[2]
    if not what.startswith("Missing") or not offset.isdigit():
        return Refused("the text ends inside of a comment or a word", "close what is open")
    before = text[: int(offset)]
    at = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    return Refused(f"the text ends inside of quotes: {_lower(what)}", "close them", at)


def _syntax_error(error: ParseError) -> Refused:
    if not error.errors:
        return Refused(f"syntax error: {_lower(str(error))}")
    first = error.errors[0]
    word = first.get("highlight") or ""
    what = first.get("description") or ""
    at = (first.get("line") or 1, max(1, (first.get("col") or 1) - len(word) + 1))
    if what.startswith("Expecting"):
        return Refused(f"syntax error near '{word}'", _lower(what), at)
    if what.startswith("Required keyword"):
        return Refused(f"syntax error near '{word}'", "an operand is missing", at)
    if what.startswith("Found multiple"):
        return Refused(f"there are two clauses '{word.upper()}' in one SELECT", "join their conditions by AND", at)
    return Refused(f"syntax error near '{word}'", "", at)


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]
