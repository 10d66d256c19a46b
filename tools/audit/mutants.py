"""Small changes of Solidity sources that a test should notice, read off the compiler's syntax tree.

A mutant is one replacement of bytes in one file. Left alone: declarations, types, events (`emit`) and the arguments of an error,
which decide what is reported, not what happens.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Node = Mapping[str, Any]

# Each operator and what it becomes; a comparison first moves its boundary, then turns round.
OPERATORS: Mapping[str, tuple[str, ...]] = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("*",),
    "&": ("|",),
    "|": ("&",),
    "^": ("&",),
    "<<": (">>",),
    ">>": ("<<",),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("=",),
    "|=": ("=", "&="),
    "&=": ("=", "|="),
    ">>=": ("<<=",),
    "<<=": (">>=",),
    "++": ("--",),
    "--": ("++",),
}
YUL_TWINS: Mapping[str, str] = {
    "add": "sub",
    "sub": "add",
    "mul": "add",
    "div": "mul",
    "mod": "div",
    "lt": "gt",
    "gt": "lt",
    "slt": "sgt",
    "sgt": "slt",
    "eq": "lt",
    "and": "or",
    "or": "and",
    "xor": "or",
    "shl": "shr",
    "shr": "shl",
    "sar": "shr",
    "byte": "shr",
    "signextend": "and",
}
# The order of their first two arguments does not matter.
SYMMETRIC = frozenset({"min", "max", "_min", "_max", "mulDiv", "saturatingMul"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One replacement: bytes `start` to `end` of `path` become `text`."""

    path: str
    start: int
    end: int
    text: str
    kind: str

    def apply(self, source: bytes) -> bytes:
        """The changed file."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def line(self, source: bytes) -> int:
        """Its line in the original, from 1."""
        return source[: self.start].count(b"\n") + 1

    def before_and_after(self, source: bytes) -> tuple[str, str]:
        """The lines it touches, without indent, as they were and as they become."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        before = source[first:last]
        after = source[first : self.start] + self.text.encode() + source[self.end : last]
        return _one_line(before), _one_line(after)


def mutants_of(path: str, source: bytes, tree: Node) -> tuple[Mutant, ...]:
    """Every mutant of one file, in the order of their places.

    Args:
        path: of the file, as the mutants name it.
        source: the file.
        tree: its syntax tree in solc's JSON form; places in it count bytes.
    """
    changes = set(_walk(tree, source))
    found = [Mutant(path=path, start=start, end=end, text=text, kind=kind) for start, end, text, kind in changes]
    changing = [mutant for mutant in found if mutant.apply(source) != source]
    return tuple(sorted(changing, key=lambda mutant: (mutant.start, mutant.end, mutant.text)))


Change = tuple[int, int, str, str]


def _walk(node: object, source: bytes) -> Iterator[Change]:
    if isinstance(node, list):
        for item in node:
            yield from _walk(item, source)
    elif isinstance(node, dict) and "nodeType" in node:
        rule = RULES.get(node["nodeType"])
        if rule is not None:
            yield from rule(node, source)
        for name, child in node.items():
            if name not in _SKIPPED.get(node["nodeType"], ()) and isinstance(child, dict | list):
                yield from _walk(_visited(node, name, child), source)


def _binary(node: Node, source: bytes) -> Iterator[Change]:
    yield from _operator(node["operator"], _end(node["leftExpression"]), _start(node["rightExpression"]), source)


def _assignment(node: Node, source: bytes) -> Iterator[Change]:
    if node["operator"] != "=":
        yield from _operator(node["operator"], _end(node["leftHandSide"]), _start(node["rightHandSide"]), source)


def _unary(node: Node, source: bytes) -> Iterator[Change]:
    inner = node["subExpression"]
    if node["operator"] == "!":
        yield _start(node), _end(node), _text(inner, source), "negation"
    elif node["operator"] in OPERATORS:
        where = (_start(node), _start(inner)) if node["prefix"] else (_end(inner), _end(node))
        yield from _operator(node["operator"], *where, source)


def _operator(operator: str, low: int, high: int, source: bytes) -> Iterator[Change]:
    start = source.index(operator.encode(), low, high)
    for other in OPERATORS.get(operator, ()):
        yield start, start + len(operator), other, "operator"


def _conditional(node: Node, source: bytes) -> Iterator[Change]:
    for branch in ("trueExpression", "falseExpression"):
        yield _start(node), _end(node), f"({_text(node[branch], source)})", "branch"


def _condition(node: Node, _source: bytes) -> Iterator[Change]:
    condition = node["condition"]
    if node["nodeType"] == "IfStatement":
        yield _start(condition), _end(condition), "true", "branch"
    yield _start(condition), _end(condition), "false", "branch"


def _statement(node: Node, source: bytes) -> Iterator[Change]:
    expression = node["expression"]
    if _is_require(expression):
        condition = expression["arguments"][0]
        yield _start(node), _end_with_semicolon(node, source), "{}", "require removed"
        yield _start(condition), _end(condition), f"!({_text(condition, source)})", "require negated"
    elif expression["nodeType"] in {"Assignment", "FunctionCall", "UnaryOperation"}:
        yield _start(node), _end_with_semicolon(node, source), "{}", "statement removed"


def _call(node: Node, source: bytes) -> Iterator[Change]:
    arguments = node["arguments"]
    if node["kind"] != "functionCall" or node.get("names") or _is_require(node):
        return
    for left, right in pairwise(arguments[1:] if _called(node) in SYMMETRIC else arguments):
        if _type(left) == _type(right) and _text(left, source) != _text(right, source):
            between = source[_end(left) : _start(right)].decode()
            yield (
                _start(left),
                _end(right),
                f"{_text(right, source)}{between}{_text(left, source)}",
                "arguments swapped",
            )


def _literal(node: Node, source: bytes) -> Iterator[Change]:
    text = _text(node, source)
    if node["kind"] == "bool":
        yield _start(node), _end(node), "false" if text == "true" else "true", "constant"
    elif node["kind"] == "number" and not _type(node).startswith("address"):
        yield _start(node), _end(node), f"({text} + 1)", "constant"


def _modifier(node: Node, _source: bytes) -> Iterator[Change]:
    if node.get("kind") == "modifierInvocation":
        yield _start(node), _end(node), "", "modifier removed"


def _return(node: Node, _source: bytes) -> Iterator[Change]:
    expression = node.get("expression")
    if expression is not None and _type(expression) == "bool":
        for answer in ("true", "false"):
            yield _start(expression), _end(expression), answer, "branch"


def _yul_call(node: Node, _source: bytes) -> Iterator[Change]:
    name = node["functionName"]
    twin = YUL_TWINS.get(name["name"])
    if twin is not None:
        yield _start(name), _end(name), twin, "operator"


def _yul_literal(node: Node, _source: bytes) -> Iterator[Change]:
    if node["kind"] == "number":
        yield _start(node), _end(node), str(int(node["value"], 0) + 1), "constant"


def _yul_statement(node: Node, _source: bytes) -> Iterator[Change]:
    yield _start(node), _end(node), "", "statement removed"


RULES: Mapping[str, Callable[[Node, bytes], Iterator[Change]]] = {
    "BinaryOperation": _binary,
    "Assignment": _assignment,
    "UnaryOperation": _unary,
    "Conditional": _conditional,
    "IfStatement": _condition,
    "WhileStatement": _condition,
    "ExpressionStatement": _statement,
    "FunctionCall": _call,
    "Literal": _literal,
    "ModifierInvocation": _modifier,
    "Return": _return,
    "YulFunctionCall": _yul_call,
    "YulLiteral": _yul_literal,
    "YulExpressionStatement": _yul_statement,
    "YulAssignment": _yul_statement,
}
_SKIPPED: Mapping[str, tuple[str, ...]] = {
    "EmitStatement": ("eventCall",),
    "RevertStatement": ("errorCall",),
    "ArrayTypeName": ("length",),
    "InheritanceSpecifier": ("arguments",),
}


def _visited(node: Node, name: str, child: Any) -> object:
    """What to visit of a child: of a require only the condition, of a loop's step the expression (no statement to remove)."""
    if name == "arguments" and _is_require(node):
        return child[:1]
    return child["expression"] if name == "loopExpression" else child


def _is_require(node: Node) -> bool:
    return node["nodeType"] == "FunctionCall" and _called(node) == "require"


def _called(node: Node) -> str:
    function = node["expression"]
    return str(function.get("name") or function.get("memberName") or "")


def _type(node: Node) -> str:
    return str(node.get("typeDescriptions", {}).get("typeString", ""))


def _start(node: Node) -> int:
    return int(node["src"].split(":")[0])


def _end(node: Node) -> int:
    start, length, _ = node["src"].split(":")
    return int(start) + int(length)


def _end_with_semicolon(node: Node, source: bytes) -> int:
    return source.index(b";", _end(node) - 1) + 1


def _text(node: Node, source: bytes) -> str:
    return source[_start(node) : _end(node)].decode()


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())
