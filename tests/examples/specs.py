"""The specs that ship: examples as they lie there, templates under a task's name."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: path for path in sorted(ROOT.glob("domains/*/examples/*.aes"))}
TEMPLATES = {f"new-{path.stem}": path for path in sorted(ROOT.glob("templates/new/*.aes"))}
NAMES = [*EXAMPLES, *TEMPLATES]


def place(name, folder):
    """The spec's path; a template is written to the folder as `aespec new` would."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    path = Path(folder) / f"{name}.aes"
    path.write_text(
        TEMPLATES[name].read_text(encoding="utf-8").replace("NEW-TASK-NAME", name), encoding="utf-8"
    )
    return path
