"""Word lists of the rule parser of facts, and the base forms of verbs."""

from __future__ import annotations

from harness_metrics.hallucination.nouns import word_set

DETERMINERS = word_set(
    "a an the this these those his her its their my our your some any each every another both all several many "
    "few other no"
)
_NUMERALS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {
    **{word: word for word in (*_NUMERALS, "eleven", "twelve")},
    **{str(k): word for k, word in enumerate(_NUMERALS, 2)},
}
"""Numeral -> its word."""
PRONOUNS = word_set("it he she they him them who which that itself himself herself themselves")
"""Words that stand for the subject of the clause before."""
SKIPPED = word_set(
    "there here we you i one something someone everything not also very quite too just only so then still almost "
    "away together what where when how if because really slightly somewhat back can could may might will would "
    "should must do does did s appear appears seem seems fast slow out outdoors indoors"
)
"""Words that are no part of a fact; words in -ly are skipped too."""
COPULAS = word_set("is are was were be been being am")
CONJUNCTIONS = word_set("and or , & plus")
BREAKS = word_set('. ; : ! ? but while as ( ) "')
"""Marks and words that begin a clause."""
PREPOSITIONS = word_set(
    "after before upon in on at by with of from to near under over above below behind beside besides between among through across "
    "against along around inside outside into onto off toward towards up down beneath underneath alongside within "
    "without during past next atop amid for about like"
)
PHRASES = {
    "in front of": "in-front-of", "on top of": "on", "next to": "beside", "close to": "near", "out of": "from", "in the middle of": "in",
    "on the side of": "beside", "in between": "between", "to the left of": "left-of", "to the right of": "right-of",
    "on the left of": "left-of", "on the right of": "right-of", "inside of": "in", "outside of": "outside", "adjacent to": "beside",
    "a couple of": "two", "a pair of": "two", "a group of": "several", "a bunch of": "several", "a lot of": "many", "lots of": "many",
    "a number of": "several", "a few": "several", "full of": "with", "filled with": "with", "covered in": "covered-with",
    "covered with": "covered-with", "such as": "with", "as well as": "and", "along with": "with", "surrounded by": "surrounded-by",
    "in the background": "", "in the foreground": "", "in the distance": "", "in the image": "", "in the picture": "",
    "in the photo": "", "in this image": "", "in this picture": "", "in this photo": "", "on the left": "", "on the right": "",
    "to the left": "", "to the right": "", "on the left side": "", "on the right side": "", "in the scene": "",
    "at the top": "", "at the bottom": "", "in the center": "", "in the middle": "",
}  # fmt: skip
"""Phrase -> the word that replaces it; the longest phrase counts."""
RELATORS = word_set("in-front-of left-of right-of covered-with surrounded-by")
SAME_RELATION = {
    "inside": "in", "into": "in", "within": "in", "onto": "on", "atop": "on", "upon": "on", "alongside": "beside", "besides": "beside",
    "by": "beside", "beneath": "under", "underneath": "under", "below": "under", "towards": "toward", "amid": "among",
}  # fmt: skip
"""Preposition -> the one that stands for it."""
FRAMES = word_set(
    "image picture photo photograph photography scene view shot background foreground left right side top bottom "
    "middle center centre front end part kind type lot couple pair group bunch number distance caption video "
    "frame"
)
"""Nouns of a description, not of what it describes."""
ADJECTIVES = word_set(
    "red orange yellow green blue purple pink brown black white gray grey beige tan gold golden silver dark light "
    "bright pale colorful colourful multicolored striped spotted plaid floral big large huge giant small little "
    "tiny tall short long high low wide narrow thick thin round square rectangular oval circular flat curved "
    "straight wooden metal metallic plastic glass stone brick concrete leather paper rubber young old elderly new "
    "ancient modern vintage clean dirty wet dry empty full open closed hot cold warm cool fresh happy sad cute "
    "beautiful pretty shiny blurry cloudy sunny snowy rainy sandy rocky grassy busy crowded calm quiet soft hard "
    "heavy male female wild furry fluffy hairy bald blond blonde ripe sliced fried grilled"
)
_VERBS = word_set(
    "sit stand walk run ride hold eat drink look lie play fly jump wear carry park drive sleep rest swim surf ski "
    "skate throw catch hit kick swing chase watch read write talk smile laugh lean hang climb cross cook cut pull "
    "push wait graze feed pet hug kiss show feature depict display contain include surround cover fill use make "
    "take bring give get go come move travel pass face follow lead stop turn grow float sail enjoy perform "
    "prepare serve pour wash brush clean sweep dig paint draw point touch reach wave dance sing kneel bend crouch "
    "squat lay place set mount attach connect line decorate seat chew bite lick sniff bark land race gather pose "
    "work cast shine reflect see gaze stare glance spread stretch roll slide balance pick drop put keep leave "
    "enter exit approach grab open close dress prop perch stack pile tie wrap hide peek stick slice bake fry "
    "grill have sell buy rise fall flow illuminate overlook cling nap cycle snowboard skateboard melt drip hurl "
    "toss shade match melt board row paddle steer tow load"
)  # fmt: skip
_IRREGULAR = {
    "sat": "sit", "stood": "stand", "ran": "run", "rode": "ride", "ridden": "ride", "held": "hold", "ate": "eat", "eaten": "eat",
    "drank": "drink", "lying": "lie", "laid": "lay", "flew": "fly", "flown": "fly", "wore": "wear", "worn": "wear", "drove": "drive",
    "driven": "drive", "slept": "sleep", "swam": "swim", "threw": "throw", "thrown": "throw", "caught": "catch", "swung": "swing",
    "hung": "hang", "cut": "cut", "fed": "feed", "shown": "show", "made": "make", "took": "take", "taken": "take", "gave": "give",
    "given": "give", "went": "go", "came": "come", "led": "lead", "grew": "grow", "grown": "grow", "drawn": "draw", "knelt": "kneel",
    "bent": "bend", "set": "set", "put": "put", "saw": "see", "seen": "see", "left": "leave", "hid": "hide", "hidden": "hide",
    "stuck": "stick", "has": "have", "had": "have", "having": "have", "sold": "sell", "rose": "rise", "fell": "fall", "fallen": "fall",
    "tying": "tie", "got": "get", "kept": "keep", "built": "build", "shone": "shine",
}  # fmt: skip
_DOUBLED = word_set(
    "sit run swim hit cut hug stop dig get set put hang pet grab nap drop wrap slip pat step skip grin spin prop"
)


def _forms(verb: str) -> list[str]:
    """Return the regular forms of a verb: base, -s, -ing, -ed."""
    if verb.endswith("e"):
        return [verb, verb + "s", verb[:-1] + "ing", verb + "d"]
    if verb in _DOUBLED:
        return [verb, verb + "s", verb + verb[-1] + "ing", verb + verb[-1] + "ed"]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return [verb, verb[:-1] + "ies", verb + "ing", verb[:-1] + "ied"]
    plural = "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
    return [verb, verb + plural, verb + "ing", verb + "ed"]


VERBS = {**{form: verb for verb in sorted(_VERBS) for form in _forms(verb)}, **_IRREGULAR}
"""Form -> base form."""
BASE_FORMS = frozenset(VERBS.values())
