"""One predicate is one file, and a domain's own Python sees only the interfaces."""

import ast

from tests.repo import sources
from tests.repo.test_shipped_code import states_signature

PREDICATES = sources.ROOT / "aespec/predicates"


def siblings(module, own, predicates):
    """The predicates other than its own that a module of the predicates imports, with the lines."""
    found = []
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "aespec.predicates":
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aespec.predicates."):
            found.append((node.module.split(".")[2], node.lineno))
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found += [
                (name[2], node.lineno) for name in names if name[:2] == ["aespec", "predicates"] and name[2:]
            ]
    return [(name, line) for name, line in found if name in predicates and not own.startswith(name)]


def test_what_stands_beside_a_predicate_knows_only_that_one():
    names = {path.stem for path in sources.modules("aespec/predicates") if states_signature(path)}
    found = [
        f"{sources.shown(path)}:{line} {name}"
        for path in sources.modules("aespec/predicates")
        if path.name != "__init__.py"
        for name, line in siblings(sources.tree(path), path.stem, names)
    ]
    assert not found, "\n".join(found)


def test_a_sibling_is_seen():
    module = ast.parse(
        "from aespec.predicates import json, text\nimport aespec.predicates.table\n"
        "from aespec.predicates.file import holds\nfrom aespec.predicates.api import Laws\n"
    )
    assert siblings(module, "json_laws", {"json", "text", "table", "file"}) == [
        ("text", 1),
        ("table", 2),
        ("file", 3),
    ]


def beyond_the_interfaces(module):
    """What a domain's plug-in imports of aespec beyond modules called `api`."""
    return [
        (name, line)
        for name, line in sources.imported(module)
        if name.partition(".")[0] == "aespec" and not name.endswith(".api")
    ]


def test_a_domain_imports_only_interfaces():
    found = [
        f"{sources.shown(path)}:{line} {name}"
        for path in sources.modules("domains")
        for name, line in beyond_the_interfaces(sources.tree(path))
    ]
    assert not found, "\n".join(found)


def test_a_domain_that_reaches_further_is_seen():
    module = ast.parse(
        "import json\nfrom aespec.rules.api import Rule\nfrom aespec.model import task\nimport aespec\n"
    )
    assert beyond_the_interfaces(module) == [("aespec.model", 3), ("aespec", 4)]
