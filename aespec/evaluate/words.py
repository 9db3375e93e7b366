"""The words that the generator `words` draws from: short, plain, none of them a name or a brand."""

from __future__ import annotations

_TEXT = """
acorn amber anchor apple april arrow aspen autumn badge bamboo banner barley basin basket beacon bell
berry birch blanket blossom border bottle branch brass bread brick bridge bronze brook bucket butter
button cabin candle canvas canyon carbon cargo carpet castle cedar cellar chalk channel cherry chimney
circle cliff clock cloud clover coast cobalt coffee comet copper coral corner cotton cradle crane crystal
curtain cypress dawn delta desert dove dune eagle east ember engine falcon feather fern ferry field flame
flint flour forest fox frost garden gate ginger glacier glass glove grain granite grape grass gravel grove
hammer harbour harvest hazel heron hill honey horizon iron island ivory ivy jacket jade kettle lake lamp
lantern lark laurel lemon lever lilac linen lotus maple marble market meadow melon metal mill mint mirror
moon morning moss mountain needle nest north oak oat ocean olive orange orchard otter oven owl paddle palm
paper path peach pearl pebble pepper pine planet plaza plum pocket pond poplar prairie quartz quill rabbit
rain raven reed ribbon ridge river robin rope rose saddle saffron sail salt sand scarf seed shadow shelf
shell silk silver sky slate snow south sparrow spice spring spruce square stable star stone storm straw
stream sugar summer sun table teal temple thread thunder timber tower trail tulip tunnel turtle valley
velvet violet wagon walnut water wave west wheat willow wind window winter wolf wool yard zinc
"""

WORDS: tuple[str, ...] = tuple(_TEXT.split())
"""Sorted and fixed: a word added or moved changes what every seed draws."""
