"""Strip docstrings and annotations from Python sources of packages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import Any


def narrow(text: str) -> str:
    """Return the text with one space per level of indentation instead of four."""
    lines = text.split("\n")
    inside = {
        number
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.STRING
        for number in range(token.start[0], token.end[0])
    }
    for number, line in enumerate(lines):
        if number not in inside:
            lines[number] = re.sub("^(?: {4})+", lambda found: " " * (len(found[0]) // 4), line)
    return "\n".join(lines)


class Tidy(ast.NodeTransformer):
    """Removes docstrings, annotations of variables and functions, and code for type checkers.

    Variables of a class keep their annotations, which data classes need.
    """

    def visit(self, node: ast.AST) -> Any:
        """Return the stripped node, several nodes in its place, or None to remove it."""
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return [self.visit(child) for child in node.orelse] or None
            case ast.Assign(targets=[ast.Name(id="TYPE_CHECKING")]):
                return None
            case ast.AnnAssign():
                bare = ast.Assign([node.target], node.value) if node.value else ast.Pass()
                return ast.copy_location(bare, node)
            case ast.ImportFrom():
                node.names = [alias for alias in node.names if alias.name != "TYPE_CHECKING"]
                return node if node.names else None
            case ast.arg():
                node.annotation = None
            case ast.FunctionDef():
                node.returns = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            kept = [
                child
                for child in node.body
                if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant))
            ]
            is_class = isinstance(node, ast.ClassDef)
            node.body = []
            self.generic_visit(node)
            for child in kept:
                seen = child if is_class and isinstance(child, ast.AnnAssign) else self.visit(child)
                node.body += seen if isinstance(seen, list) else [seen] if seen is not None else []
            node.body = node.body or [ast.Pass()]
            return node
        return self.generic_visit(node)
