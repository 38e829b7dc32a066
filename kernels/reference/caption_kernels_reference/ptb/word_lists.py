"""Word lists of the Penn Treebank tokeniser: abbreviations and words that open a
sentence, as regular expressions.

``(?i:...)`` marks lists that ignore case. Where the program requires a capital
(``Wash.``, the state, against ``wash.`` at the end of a sentence) the capital is
outside. The lists are facts about the program, checked against its output.
"""

from __future__ import annotations

ENDS_SENTENCE = (
    "(?i:al|etc|ext|est|seq|sq|tel|ct|rd|esq|jr|sr|bros"  # general
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    "|mon|tues?|wed|thu(?:rs)?|fri"
    "|inc|cos?|corp|ltd|plc|rt|bancorp|bhd|assn|univ|intl|sys|ind|bldg|blvd|dak"
    "|ala|ariz|calif|colo|conn|fla|ga|kans?|ky|md|mich|minn|mo|mont|neb|nev|okla|penn|tenn|va|vt|wisc?|wyo"
    "|ed\\.d|ph\\.d)"
    "|A(?i:rk)|A(?i:z)|D(?i:el)|I(?i:ll)|L(?i:a)|M(?i:ass)|M(?i:iss)|O(?i:re)|P(?i:a)|T(?i:ex)|W(?i:ash)"
    "|[Pp]?[Pp][Tt][ey][Ss]?"
)
"""Abbreviations with a full stop; at the end of a sentence the stop is also a token of
its own.
"""

BEFORE_NAME = (
    "(?i:mr|mrs|ms|drs?|profs?|sens?|reps?|attys?|lt|col|gen|messrs|govs?|adm|rev|maj|sgt|cpl|pvt|mt|capt|ste?|ave|pres"
    "|lieut|hon|brig|co?mdr|pfc|spc|sfc|supts?|det|msgr|mlle|mme|ens|insp|asst|assoc|dept|natl|elec|adj|adv|invt|ft"
    "|alex|wm|jos|cie|cf|treas|vs|ph)"
    "|[Mm]fG"
)
"""Abbreviations with a full stop that never end a sentence."""

BEFORE_NUMBER = "(?i:art|bldg|ca|figs?|nos?|op|pp|prop)"
"""Abbreviations with a full stop only before a number."""

SENTENCE_OPENERS = (
    "Additionally|According|Earlier|However|About|After|Other|Since|Their|There|These|While|Here|Last|Many|More|Once|Some|Such|That|Then|They|"
    "This|What|When|But|Her|Now|One|Our|She|The|Yet|You|An|As|At|He|If|In|It|So|We|A"
)
"""Words after an acronym or initial with a full stop that show the end of a sentence.
"""
