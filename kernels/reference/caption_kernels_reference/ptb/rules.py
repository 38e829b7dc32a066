"""Rules of the Penn Treebank tokeniser: at each position the rule with the longest
match applies, the first on ties.

Stanford's program is a longest-match scanner, whereas Python's regular expressions take
the first alternative that matches. Each rule is therefore an expression of its own; all
are tried and the longest match is taken. The length of a match includes trailing
context: group 1 is the token, the rest of the match is context.

``kernels/generators/generate_ptb_rules.py`` translates :data:`TABLE` for the compiled
tokeniser, whose functions ``emit`` have the names of the functions here.

The behaviour is that of edu.stanford.nlp.process.PTBTokenizer 3.4.1 with
``-preserveLines -lowerCase``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from caption_kernels_reference.ptb import word_lists as words
from caption_kernels_reference.ptb.characters import DIGITS, LETTERS, MARKS, SYMBOLS

ASCII_LETTERS = "A-Za-z"
SPACES = " \t\u00a0\u2000-\u200a\u3000"
BREAKS = "\r\n\u2028\u2029\v\f\u0085"
BLANK = f"[{SPACES}{BREAKS}]"
A = f"[{ASCII_LETTERS}{LETTERS}]"  # a letter
D = f"[0-9{DIGITS}]"  # a digit
AD = f"[{ASCII_LETTERS}{LETTERS}0-9{DIGITS}]"
ACCENTED = "&[aeiouAEIOU](?i:acute|grave|uml);"
# first character of a word
W = f"(?:[{ASCII_LETTERS}{LETTERS}{MARKS}\u00ad]|{ACCENTED})"
WD = f"(?:[{ASCII_LETTERS}{LETTERS}{MARKS}\u00ad0-9{DIGITS}]|{ACCENTED})"
APOS = "(?:['\u0092\u2019]|&(?i:apos);)"
APOS2 = "(?:['\u0092\u2019`\u0091\u2018\u201b]|&(?i:apos);)"
AMP = "(?:&(?i:amp;)?)"
HYPHEN = "[-_\u058a\u2010\u2011]"
WORD = f"{W}{WD}*(?:[.!?]{W}{WD}*)*"
NUM = f"(?:{D}*(?:[.:,\u00ad\u066b\u066c]{D}+)+|{D}+)"
ACRONYM = "[A-Za-z](?:\\.[A-Za-z])+"
NAME = "[A-Za-z][A-Za-z0-9:.-]*"
TAG = (
    f"<(?:[!?][A-Za-z-][^>\r\n]*|/?{NAME}(?:[ ]+(?:{NAME}[ ]*=[ ]*(?:'[^'\r\n"
    f']*\'|"[^"\r\n]*")|{NAME}))*[ ]*/?)>'
)
_FRACTIONS = {
    "\u00bc": "1/4",
    "\u00bd": "1/2",
    "\u00be": "3/4",
    "\u2153": "1/3",
    "\u2154": "2/3",
}
_CURRENCY = {
    "\u00a2": "cents",
    "\u00a3": "#",
    "\u0080": "$",
    "\u00a4": "$",
    "\u20a0": "$",
    "\u20ac": "$",
}
_OTHER_CAPITALS = "\ue000"
"""Placeholder in a rule for the capitals outside ASCII,
which are computed on first use.
"""
SENTENCE_END = f"{BLANK}(?:{BLANK}|[A-Z{_OTHER_CAPITALS}]|{TAG})"
OPENER = f"{BLANK}+(?:(?=[A-Z])(?i:{words.SENTENCE_OPENERS}|m[rs]\\.)|{TAG}){BLANK}"
AUX = f"{APOS}(?i:[msd]|re|ve|ll)"
SLASHED = "[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
URL_REST = '[^ \t\n\f\r"<>|()]+[^ \t\n\f\r"<>|.!?(){},-]'
EXTENSION = (
    "(?i:bat|bmp|class|cgi|cpp|c|dll|docx?|exe|gif|gz|html?|h|java|jar|jpe?g|mov|mp3|"
    "pdf|php|pl|png|ppt|ps|py|sql|tar|txt|wav|xml|x|zip)"
)
HYPHENATED = f"[A-Za-z0-9][A-Za-z0-9.,\u00ad]*(?:-(?:{ACRONYM}\\.|[A-Za-z0-9\u00ad]+))+"
THING = f"(?:[dDoOlL]{APOS2}{AD})?{AD}+(?:{HYPHEN}(?:[dDoOlL]{APOS2}{AD})?{AD}+)*"
INITIALS = "[A-Z]+(?:(?:&(?i:amp);|[+&])[A-Z]+)+"
ACRONYM_STOP = (
    f"(?:{ACRONYM}|"
    "(?i:(?:canada|sino|korean|eu|japan|non)-U\\.S|U\\.S\\.-U\\.(?:K|S\\.S\\.R)))"
)
EYE = "[-^x=~<>']"
SPLIT_WORDS = frozenset(("cannot", "gonna", "gotta", "gimme", "lemme", "wanna"))
ABBREVIATION = re.compile(
    f"{words.ENDS_SENTENCE}|{words.BEFORE_NAME}|{words.BEFORE_NUMBER}|(?i:co|pt[ey])|[A-Za-z]"
)


class Rule(NamedTuple):
    """A compiled rule."""

    match: Callable[[str, int], re.Match[str] | None]
    """Matches a text from a position on; its last group is the text of the token."""
    emit: Callable[[str], str | None]
    """Returns the token of its text, or None where the text is dropped."""


def _plain(text: str) -> str:
    return text


def _no_soft_hyphens(text: str) -> str:
    # A token of soft hyphens alone becomes one hyphen.
    return text.replace("\u00ad", "") or "-"


def _blanks_bound(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _brackets(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _phone(text: str) -> str:
    return _brackets(_blanks_bound(text))


def _ampersand(text: str) -> str:
    return re.sub("(?i:&amp;)", "&", text)


def _hyphens(text: str) -> str:
    # Three or four hyphens are a dash; longer runs are rules drawn in text and stay.
    return "--" if len(text) in (3, 4) else text


def _fraction(text: str) -> str:
    return _FRACTIONS.get(text, text)


def _currency(text: str) -> str:
    return _CURRENCY.get(text, text)


def _drop(text: str) -> None:
    return None


def _quotes(text: str, single: str, double: str) -> str:
    # Straight quotes take the form that their place gives them (opening or closing),
    # curved ones the form of their own shape.
    text = re.sub("&apos;|'", single, text)
    text = re.sub('"|&quot;', double, text)
    text = re.sub("[\u0091\u2018\u201b\u2039]", "`", text)
    text = re.sub("[\u0092\u2019\u203a]", "'", text)
    text = re.sub("[\u0093\u201c\u00ab]", "``", text)
    return re.sub("[\u0094\u201d\u00bb]", "''", text)


def _opening(text: str) -> str:
    return _quotes(text, "`", "``")


def _closing(text: str) -> str:
    return _quotes(text, "'", "''")


def _with_stop(text: str) -> str:
    return text + "."


def _literal(token: str, text: str) -> str:
    return token


def _other_capitals() -> str:
    """Return the capitals outside ASCII, with Roman numerals and circled letters, as
    the inside of a character class.
    """
    letters = re.findall(f"[{LETTERS}]", "".join(map(chr, range(128, 0x10000))))
    return "\u2160-\u216f\u24b6-\u24cf" + "".join(
        letter for letter in letters if letter.isupper()
    )


# (pattern, emit); the earlier rule wins a tie.
TABLE: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("((?i:can))(?i:not)", _no_soft_hyphens),
    ("((?i:gon|wan))(?i:na)|((?i:got))(?i:ta)|((?i:lem|gim))(?i:me)", _no_soft_hyphens),
    ("('(?i:t))(?i:is|was)", _plain),
    (f"({TAG})", _blanks_bound),
    ("(&(?i:md|mdash|ndash);|[\u0096\u0097\u2013-\u2015])", partial(_literal, "--")),
    ("(&(?i:amp);)", _ampersand),
    ("(&(?i:ht|tl|ur|lr|qc|ql|qr|odq|cdq|#[0-9]+);)", _plain),
    (f"({WORD}){AUX}", _no_soft_hyphens),
    (f"([A-Za-z\u00ad]*[A-MO-Za-mo-z])(?i:n){APOS2}(?i:t)", _no_soft_hyphens),
    (f"({WORD})", _no_soft_hyphens),
    (
        f"({APOS}[nN]{APOS}?|[lLdDjJ]{APOS}|(?i:dunkin|somethin|ol){APOS}|{APOS}(?i:em|till?|cause)|{APOS}[2-9]0(?i:s))",
        _plain,
    ),
    (f"([A-HJ-XZn]{APOS2}{A}{A}+)", _plain),
    (f"({A}+[aeiouyAEIOUY]{APOS2}[aeiouA-Z]{A}*)", _plain),
    (
        f"((?i:nor{APOS}easter|c{APOS}mon|e{APOS}er|s{APOS}mores|ev{APOS}ry|li{APOS}l|nat{APOS}l)|[oO]{APOS2}[oO])",
        _plain,
    ),
    (f"((?i:cont{APOS}d)\\.?)", _plain),
    (f"([yY]{APOS}){A}", _plain),
    ('((?i:https?)://[^ \t\n\f\r"<>|(){}]+[^ \t\n\f\r"<>|.!?(){},-])', _plain),
    (
        "((?i:www)\\.(?:[^ \t\n"
        f'\f\r"<>|.!?(){{}},]+\\.)+[a-zA-Z]{{2,4}}(?:/{URL_REST})?)',
        _plain,
    ),
    (
        "((?:[^ \t\n"
        f"\f\r\"`'<>|.!?(){{}}$,-_]+\\.)+(?i:com|net|org|edu)(?:/{URL_REST})?)",
        _plain,
    ),
    (
        '((?:&(?i:lt);|<)?[a-zA-Z0-9][^ \t\n\f\r"<>|(){}\u00a0]*@'
        '(?:[^ \t\n\f\r"<>|(){}.\u00a0]+\\.)*[^ \t\n'
        '\f\r"<>|(){}.\u00a0]+(?:&(?i:gt);|>)?)',
        _plain,
    ),
    ("([@\uff20][a-zA-Z_][a-zA-Z_0-9]*)", _plain),
    (f"([#\uff03]{W}+)", _plain),
    (f"({AUX})[^A-Za-z]", _closing),
    (f"((?i:n){APOS2}(?i:t))[^A-Za-z]", _closing),
    (f"({D}{{1,2}}[-/]{D}{{1,2}}[-/]{D}{{2,4}})", _plain),
    (f"([-+]?{NUM})", _no_soft_hyphens),
    (
        "([\u207a\u207b\u208a\u208b]?(?:[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+|[\u2080-\u2089]+))",
        _plain,
    ),
    (
        f"((?:{D}{{1,4}}[- \u00a0])?{D}{{1,4}}(?:\\\\?/|\u2044){D}{{1,4}})",
        _blanks_bound,
    ),
    ("([\u00bc\u00bd\u00be\u2153-\u215e])", _fraction),
    (
        f"((?i:-(?:[lr][rcs]b)-|pro-|anti-|s{AMP}p-500|s{AMP}ls|cap{APOS}n|c{APOS}est))",
        _ampersand,
    ),
    (f"({SLASHED}(?:\\\\?/{SLASHED}){{1,2}})", _plain),
    ("([A-Z]*\\$|#)", _plain),
    (
        "([\u00a2-\u00a5\u0080\u20a0\u20ac\u060b\u0e3f\u20a4\uffe0\uffe1\uffe5\uffe6])",
        _currency,
    ),
    (f"((?i:co|pt[ey])\\.)[{SPACES}](?i:ltd|lim)", _plain),
    (f"((?:{words.ENDS_SENTENCE}))\\.{SENTENCE_END}", _with_stop),
    (f"((?:{words.ENDS_SENTENCE})\\.)[\\s\\S]{{2}}", _plain),
    (f"({WORD}\\.)[,;:\u3001]", _no_soft_hyphens),
    (f"({HYPHENATED}\\.)[,;:\u3001]", _no_soft_hyphens),
    (f"({THING}\\.)[,;:\u3001]", _plain),
    (f"({INITIALS}\\.)[,;:\u3001]", _ampersand),
    (f"((?:{words.BEFORE_NUMBER})\\.){BLANK}?{D}", _plain),
    (f"([A-Za-z])\\.{OPENER}", _plain),
    (f"({ACRONYM_STOP})\\.{OPENER}", _with_stop),
    (f"((?:{words.BEFORE_NAME}|[A-Za-z])\\.)", _plain),
    (f"({ACRONYM_STOP}\\.)", _plain),
    (f"({ACRONYM_STOP}){BLANK}", _plain),
    (f"({WD}+(?:\\.{WD}+)*\\.{EXTENSION})(?:{BLANK}|[.?!,])", _plain),
    (f"({APOS}[0-9][0-9]){BLANK}", _plain),
    (
        "((?:\\([0-9]{2,3}\\)[ \u00a0]?|\\+{0,2}(?:[0-9]{2,4}[- "
        "\u00a0])?[0-9]{2,4}[- \u00a0])[0-9]{3,4}[- \u00a0]?[0-9]{3,5})",
        _phone,
    ),
    ("((?:(?:\\+\\+?)?[0-9]{2,4}\\.)?[0-9]{2,4}\\.[0-9]{3,4}\\.[0-9]{3,5})", _phone),
    ('("|&(?i:quot);)[A-Za-z0-9$]', _opening),
    ('("|&(?i:quot);)', _closing),
    ("([<>]?[:;=][-o*']?[()DPdpO\\\\{@|\\[\\]])[^A-Za-z0-9]", _brackets),
    (
        f"([\\^x=~<>]\\.\\[\\^x=~<>]|{EYE}_{EYE}|\\({EYE}[_.]?{EYE}\\)|\\([\\^x=~<>']-[\\^x=~<>'`]\\))",
        _brackets,
    ),
    ("(<|&(?i:lt);)", partial(_literal, "<")),
    ("(>|&(?i:gt);)", partial(_literal, ">")),
    ("(\\{)", partial(_literal, "-LCB-")),
    ("(\\})", partial(_literal, "-RCB-")),
    ("(\\[)", partial(_literal, "-LSB-")),
    ("(\\])", partial(_literal, "-RSB-")),
    ("(\\()", partial(_literal, "-LRB-")),
    ("(\\))", partial(_literal, "-RRB-")),
    ("(-+)", _hyphens),
    ("(\\.{3,5}|(?:\\.[ \u00a0]){2,4}\\.|[\u0085\u2026])", partial(_literal, "...")),
    ("(@+|#+|_+)", _plain),
    ("(\\*+|(?:\\\\\\*){1,3})", _plain),
    ("([,;:\u3001])", _plain),
    ("([?!]+)", _plain),
    ("([.\u00a1\u00bf\u037e\u0589\u061f\u06d4\u0700-\u0702\u07fa\u3002])", _plain),
    ("(=|/)", _plain),
    (f"({HYPHENATED})", _no_soft_hyphens),
    (f"({THING})", _plain),
    (f"({INITIALS})", _ampersand),
    ("((?i:c\\+\\+|[cf]#))", _plain),
    ("(')[A-Za-z][^ \t\n\r\u00a0]", _opening),
    (f"({AUX}|(?i:n){APOS2}(?i:t))", _closing),
    ("('')", _closing),
    (f"({APOS})", _closing),
    ("([`\u0091-\u0094\u00ab\u00bb\u2018-\u201f\u2039\u203a]{1,2})", _closing),
    ("(<<|>>)", _plain),
    (f"([%&~^|+\u2044\u207a\u207b\u208a\u208b\\\\{SYMBOLS}])", _plain),
    (f"([{SPACES}]+|[\0\u200b\u200e\u200f\ufeff]|&(?i:nbsp);|\x7f)", _drop),
)


def longest(text: str, start: int) -> tuple[int, int, str | None]:
    """Apply the rule with the longest match at a position.

    Returns
    -------
    end : int
        End of the match with its context.
    token_end : int
        End of the token in ``text``; scanning continues there.
    token : str or None
        The token, None where it is dropped.

    Examples
    --------
    >>> longest("can't", 0)
    (5, 2, 'ca')
    """
    best, winner = -1, None  # ">" below: the earlier rule wins a tie
    for match, emit in _rules(text.isascii()):
        result = match(text, start)
        if result is not None and result.end() > best:
            best = result.end()
            winner = (result, emit)
    if winner is None:  # a character that no rule knows is dropped
        return start + 1, start + 1, None
    result, emit = winner
    group = result.lastindex or 0
    return best, result.end(group), emit(result[group])


@lru_cache(maxsize=2)
def _rules(ascii_only: bool) -> tuple[Rule, ...]:
    """Return the compiled rules; those for ASCII texts omit the character classes
    outside ASCII.

    Both sets match an ASCII text alike, because their classes have the same ASCII
    characters; the short classes are faster.
    """
    classes = (LETTERS, MARKS, DIGITS, SYMBOLS)
    return tuple(
        Rule(re.compile(_pattern(rule, classes if ascii_only else ())).match, emit)
        for rule, emit in TABLE
    )


def _pattern(rule: str, excluded: Sequence[str]) -> str:
    """Return the expression of a rule without some character classes."""
    for characters in excluded:
        rule = rule.replace(characters, "")
    if _OTHER_CAPITALS in rule:
        rule = rule.replace(_OTHER_CAPITALS, "" if excluded else _other_capitals())
    return rule
