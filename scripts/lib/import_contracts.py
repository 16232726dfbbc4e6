"""An import-linter contract that lists allowed imports rather than forbidden ones."""

import sys
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class OnlyContract(Contract):
    """The source modules may import each other, the standard library and the allowed modules.

    A module stands for everything inside it. Only direct imports count: what an allowed module
    imports is a matter for that module's own contract.
    """

    type_name = "only"

    source_modules = fields.SetField(subfield=fields.StringField())
    allowed_modules = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        sources = cast("set[str]", self.source_modules)
        allowed = sources | cast("set[str]", self.allowed_modules) | sys.stdlib_module_names
        broken = [
            f"{importer}:{detail['line_number']} imports {imported}"
            for importer in sorted(m for m in graph.modules if _inside(m, sources))
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if not _inside(imported, allowed)
            for detail in graph.get_import_details(importer=importer, imported=imported)
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["broken"]:
            output.print_error(line, bold=False)


def _inside(module: str, packages: set[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
