"""The subject areas: each a folder with a `domain.toml`, ours and those of installed distributions."""

from aespec.domains.registry import Domain, all_domains, find, names

__all__ = ["Domain", "all_domains", "find", "names"]
