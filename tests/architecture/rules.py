"""The house rules as functions: syntax tree in, complaints out. Each complaint reads `path:line: what is wrong`."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.architecture.tree import Module, strip_solidity, words_of

Function = ast.FunctionDef | ast.AsyncFunctionDef

# Words the glossary replaces by another one: no identifier may use them.
FORBIDDEN_WORDS = {
    "miner": "provider",
    "ban": "exclusion",
    "banned": "excluded",
    "jail": "suspension",
    "jailed": "suspended",
    "strike": "violation",
    "strikes": "violations",
    "offense": "violation",
    "collateral": "stake",
    "fine": "penalty",
    "fines": "penalties",
    "validator": "oracle member",
}
# Names that other people's interfaces prescribe.
FOREIGN_NAMES = frozenset({"field_validator", "model_validator", "FieldValidator", "Draft202012Validator"})

NETWORK_MODULES = (
    "aiohttp",
    "http.client",
    "http.server",
    "httpx",
    "httpx2",
    "ray",
    "requests",
    "socket",
    "socketserver",
    "urllib.request",
    "uvicorn",
    "websockets",
)


def inexact_arithmetic(module: Module) -> Iterator[str]:
    """Float literals, true division and float() in a module that decides money or guilt."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            yield f"{module.place(node)}: float literal {node.value}"
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            yield f"{module.place(node)}: '/' is not exact, use // and say which way it rounds"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
            yield f"{module.place(node)}: float()"


def float_types(module: Module) -> Iterator[str]:
    """Any mention of a float type: annotations, dtypes, dtype strings."""
    for node in ast.walk(module.tree):
        name = _spelling(node)
        if name is not None and re.fullmatch(r"float(16|32|64|128|ing)?|Decimal|Fraction", name):
            yield f"{module.place(node)}: {name}"


def patching(module: Module) -> Iterator[str]:
    """patch(...) and mock objects: where a test needs one, a port is missing."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _called_name(node.func) in {"patch", "Mock", "MagicMock", "AsyncMock"}:
            yield f"{module.place(node)}: {_called_name(node.func)}(): give the code a port instead"
        if any(name.split(".")[0] == "mock" or name.startswith("unittest.mock") for name in imported_names(node)):
            yield f"{module.place(node)}: imports mock"


def network_imports(module: Module) -> Iterator[str]:
    """Imports of modules that open sockets."""
    for node in ast.walk(module.tree):
        for name in imported_names(node):
            if f"{name}.".startswith(tuple(f"{opener}." for opener in NETWORK_MODULES)):
                yield f"{module.place(node)}: imports {name}, so it belongs in tests/integration or tests/contract"


def long_functions(module: Module, lid: int) -> Iterator[str]:
    """Functions of more than `lid` lines, docstring not counted."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _length(node) > lid:
            yield f"{module.place(node)}: {node.name} has {_length(node)} lines, the lid is {lid}"


def environment_at_import(module: Module) -> Iterator[str]:
    """Reads of the environment that run when the module is imported."""
    for node in _runs_at_import(module.tree):
        if _reads_environment(node):
            yield f"{module.place(node)}: reads the environment at import: read it in config.py, called from main"


def environment_reads(module: Module) -> Iterator[str]:
    """Reads of single environment variables, wherever they stand (passing all of it on to a child process is fine)."""
    for node in ast.walk(module.tree):
        if _called_name(node) in {"getenv", "environ"} and not isinstance(node, ast.Call):
            yield f"{module.place(node)}: touches the environment outside config.py"


def forbidden_words(module: Module) -> Iterator[str]:
    """Identifiers that use a word the glossary replaces."""
    for node in ast.walk(module.tree):
        for name in _defined_names(node):
            yield from (f"{module.place(node)}: {name}: {complaint}" for complaint in glossary_complaints(name))


def forbidden_solidity_words(path: str, text: str) -> Iterator[str]:
    """Solidity identifiers that use a word the glossary replaces."""
    for number, line in enumerate(strip_solidity(text).splitlines(), start=1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            yield from (f"{path}:{number}: {name}: {complaint}" for complaint in glossary_complaints(name))


@cache
def glossary_complaints(identifier: str) -> tuple[str, ...]:
    """What the glossary says against an identifier."""
    wrong = [] if identifier in FOREIGN_NAMES else [word for word in words_of(identifier) if word in FORBIDDEN_WORDS]
    return tuple(f"the glossary says '{FORBIDDEN_WORDS[word]}', not '{word}'" for word in wrong)


def long_solidity_functions(path: str, text: str, lid: int) -> Iterator[str]:
    """Solidity functions of more than `lid` lines, from the signature to the closing brace at the same indent."""
    lines = strip_solidity(text).splitlines()
    for start, line in enumerate(lines):
        opening = re.match(r"( *)(?:function|constructor|modifier)\b", line)
        if opening:
            length = _block_length(lines[start:], opening.group(1))
            if length > lid:
                yield f"{path}:{start + 1}: {line.strip()} has {length} lines, the lid is {lid}"


def imported_names(node: ast.AST) -> tuple[str, ...]:
    """The dotted names an import statement brings in; nothing for other nodes."""
    if isinstance(node, ast.Import):
        return tuple(alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return ()


def _block_length(lines: list[str], indent: str) -> int:
    for offset, line in enumerate(lines):
        if line.startswith(f"{indent}}}") or (line.rstrip().endswith(";") and not line.startswith(f"{indent}    ")):
            return offset + 1
    return len(lines)


def _length(function: Function) -> int:
    whole = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is None:
        return whole
    return whole - ((first.end_lineno or first.lineno) - first.lineno + 1)


def _spelling(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _called_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _runs_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node outside function bodies; defaults and decorators do run at import."""
    for child in ast.iter_child_nodes(tree):
        yield child
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*child.decorator_list, *child.args.defaults, *filter(None, child.args.kw_defaults)):
                yield part
                yield from _runs_at_import(part)
        elif not isinstance(child, ast.Lambda):
            yield from _runs_at_import(child)


def _reads_environment(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and _called_name(node) in {"environ", "getenv"}


def _defined_names(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return (node.id,)
    return (node.attr,) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) else ()
