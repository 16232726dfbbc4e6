"""Extracts the sentence about each key of the tournament file from its field's docstring."""

import ast
import inspect
from functools import cache

from asara_server.tournament.config import tournament_file


@cache
def key_sentences(table: str) -> dict[str, str]:
    """Return the sentence about each key of a class in `tournament_file`, such as "Limits"."""
    tree = ast.parse(inspect.getsource(tournament_file))
    model = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == table)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in zip(model.body, model.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
