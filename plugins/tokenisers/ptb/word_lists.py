"""The word lists of the Penn Treebank tokeniser: abbreviations, contractions, words that open a sentence.

``(?i:...)`` marks lists that ignore case; where the program insists on a capital (``Wash.`` the state against ``wash.``
at the end of a sentence) the capital stands outside. Which words are listed is a fact about the program, checked against its
answers; the expressions are ours.
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
"""Keep their full stop; at the end of a sentence a second one is counted."""

BEFORE_NAME = (
    "(?i:mr|mrs|ms|drs?|profs?|sens?|reps?|attys?|lt|col|gen|messrs|govs?|adm|rev|maj|sgt|cpl|pvt|mt|capt|ste?|ave|pres"
    "|lieut|hon|brig|co?mdr|pfc|spc|sfc|supts?|det|msgr|mlle|mme|ens|insp|asst|assoc|dept|natl|elec|adj|adv|invt|ft"
    "|alex|wm|jos|cie|cf|treas|vs|ph)"
    "|[Mm]fG"
)
"""Keep their full stop, and never end a sentence."""

BEFORE_NUMBER = "(?i:art|bldg|ca|figs?|nos?|op|pp|prop)"
"""Keep their full stop only before a number."""

SENTENCE_OPENERS = (
    "Additionally|According|Earlier|However|About|After|Other|Since|Their|There|These|While|Here|Last|Many|More|Once|Some|Such|That|Then|They|"
    "This|What|When|But|Her|Now|One|Our|She|The|Yet|You|An|As|At|He|If|In|It|So|We|A"
)
"""After an acronym or initial with its full stop, only these words tell that a sentence ended there."""
