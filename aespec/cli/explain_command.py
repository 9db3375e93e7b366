"""`aespec explain`."""

from __future__ import annotations

import sys

import click

from aespec.cli.console import Status


@click.command()
@click.argument("slug", required=False)
def command(slug: str | None) -> None:
    """Tell more about a message: what it means, why it matters, a bad and a good example.

    Without SLUG it lists all messages.
    """
    from aespec.cli.explanations import all_explanations
    from aespec.diagnostics import render_explanation, suggest

    explanations = all_explanations()
    if slug is None:
        width = max(map(len, explanations))
        for name in sorted(explanations):
            click.echo(f"{name:{width}}  {explanations[name].title}")
        return
    if slug not in explanations:
        near = suggest(slug, explanations)
        click.echo(
            f"aespec: no message is called '{slug}'." + (f" Did you mean '{near}'?" if near else ""), err=True
        )
        sys.exit(Status.INFRASTRUCTURE)
    click.echo(render_explanation(explanations[slug]))
