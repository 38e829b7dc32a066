"""Singular forms of English nouns, by rules and a list of irregular ones."""

from __future__ import annotations

from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that are separated by blanks."""
    return frozenset(text.split())


_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "persons": "person", "feet": "foot", "teeth": "tooth",
    "geese": "goose", "mice": "mouse", "oxen": "ox", "calves": "calf", "knives": "knife", "lives": "life", "wives": "wife",
    "leaves": "leaf", "loaves": "loaf", "shelves": "shelf", "halves": "half", "wolves": "wolf", "scarves": "scarf", "elves": "elf",
    "buses": "bus", "busses": "bus", "gases": "gas", "lenses": "lens", "shoes": "shoe", "toes": "toe", "canoes": "canoe",
    "movies": "movie", "cookies": "cookie", "ties": "tie", "pies": "pie", "zombies": "zombie", "doggies": "doggie",
    "clothes": "clothes", "police": "police", "axes": "axe", "horses": "horse", "houses": "house", "vases": "vase", "noses": "nose",
    "roses": "rose", "purses": "purse", "nurses": "nurse", "suitcases": "suitcase", "briefcases": "briefcase", "cases": "case",
    "bases": "base", "hoses": "hose", "mooses": "moose", "greenhouses": "greenhouse", "racehorses": "racehorse",
    "gooses": "goose", "headphones": "headphone", "policemen": "policeman", "policewomen": "policewoman", "firemen": "fireman",
    "businessmen": "businessman", "businesswomen": "businesswoman", "fishermen": "fisherman", "snowmen": "snowman",
    "gentlemen": "gentleman", "knickknacks": "knickknack", "skis": "skis", "selfies": "selfie", "smoothies": "smoothie",
    "brownies": "brownie", "hoodies": "hoodie", "trolleys": "trolley", "couches": "couch",
}  # fmt: skip
_INVARIANT = word_set(
    "sheep deer fish aircraft scissors skis shears glasses sunglasses pants shorts jeans trousers goggles "
    "binoculars tennis news series species bus gas lens glass grass dress boss cross moss class mass pass chess "
    "brass canvas atlas cactus octopus walrus hippopotamus rhinoceros asparagus hummus citrus campus circus virus "
    "this his is was has its as us yes christmas swiss"
)


@lru_cache(maxsize=1 << 14)
def singular(word: str) -> str:
    """Return the singular of a lower-case noun; other words are returned unchanged or without a final s.

    >>> [singular(word) for word in ("dogs", "puppies", "children", "buses", "dishes", "grass", "tomatoes", "boxes")]
    ['dog', 'puppy', 'child', 'bus', 'dish', 'grass', 'tomato', 'box']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _INVARIANT or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("shes", "ches", "xes", "sses", "zzes", "oes")):
        return word[:-2]
    return word[:-1]
