"""Raw texts of the test vectors: input of the tokeniser,
of METEOR and of the stemmer, written for them.

METEOR's vectors hold the small lexicons of this module, which say nothing about
English.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vector_texts import (
    ACTIONS,
    ENDINGS,
    MARKS,
    PLACES,
    STRANGE_WORDS,
    SUBJECTS,
    Case,
    Draws,
    altered,
    caption,
)

PTB_TEXTS = {
    "plain": (
        "A man's dog runs.",
        "Two dogs play in the park!",
        "The cat sat on the mat, and slept.",
        "Is this a bird?",
        "a",
        "A.",
        "WOW",
        "cannot",
        "I cannot go; Cannot you?",
        "Gonna gotta gimme lemme wanna",
        "'Tis the season, 'twas night",
    ),
    "contractions": (
        "He can't, won't and shouldn't've gone.",
        "They're here; it's late; I'd say so.",
        "we'll we've I'm you're",
        "rock 'n' roll",
        "the dogs' bowls",
        "O'Brien's and D'Angelo's",
        "'em 'cause 'till ol' dunkin' somethin'",
        "y'all aren't",
        "C'mon e'er nor'easter ev'ry li'l",
        "l'amour d'Artagnan",
        "CAN'T DON'T IT'S",
        "don\u2019t it\u2019s \u2018tis",
        "cap'n c'est",
        "it`s don`t",
        "&apos;s they&apos;re",
        "cont'd. cont'd",
        "o'clock 5 o\u2019clock",
    ),
    "abbreviations": (
        "Mr. Smith met Dr. Jones.",
        "It is in the U.S. today.",
        "the U.S. The end",
        "He lives on Main St. now",
        "at 5 p.m. A dog",
        "at 5 p.m. a dog",
        "Jan. 5 and Feb. the third",
        "etc. And so on",
        "etc. and so on",
        "etc.",
        "No. 5 is alive",
        "No. That is wrong",
        "Figs. 3 and fig. a",
        "Inc. Corp. Ltd. Co.",
        "J. R. Smith",
        "I. It was",
        "Ph.D. students",
        "U.K. U.S.-U.K. non-U.S. firms",
        "Pty. Ltd. Pte. Lim",
        "Wash. in wash.",
        "e.g. this i.e. that",
        "Prof. X, Sen. Y; Rep. Z",
        "a.b.c",
        "a.b.c.",
        "Mt. Everest vs. K2",
        "Ave. The",
        "ed.d and Ph.D.",
        "Sept. Oct. Nov.",
        "co. ltd",
        "A. The b. The",
    ),
    "numbers": (
        "3 1/2 cups",
        "1/2 cup",
        "10,000 people",
        "3.14159",
        "1990s and '90s",
        "the '50s were",
        "5-10 minutes",
        "2:30pm",
        "$5.99 and \xa35",
        "-7 and +3",
        "12/31/1999 or 1-2-03",
        "x2 3x",
        "1st 2nd 3rd",
        "50%",
        "#1 and no. 2",
        "555-1234",
        "(555) 123-4567",
        "+44 20 7946 0958",
        "555.123.4567",
        "1.2.3.4",
        ".5",
        "5.",
        "1,2,3",
        "3\u20442",
        "\xbd cup, \xbc \xbe \u2153 \u215b",
        "x\xb2 10\u207b\xb3 H\u2082O",
        "\u0663\u0664 \u0967/\u0968",
        "12 1\\/2",
        "9 3/4 1/2 2",
        "1-1/2",
        "A$5 US$7 \u20ac9 \xa59 \u20a4 \u0e3f",
    ),
    "punctuation": (
        "Wait... what?!",
        "a, b; c: d.",
        "Hello!!! Really???",
        "well - known",
        "well-known -- dash --- dash ---- line -----",
        "(a) [b] {c}",
        "a/b and/or c",
        "a & b AT&T R&D",
        "* item ** bold",
        "~ ^ | \\ %",
        "@home @ # ##",
        "_a_ __b__",
        "<>",
        "a < b > c",
        "<< >>",
        "= == a=b",
        "... . . . .. .. .....",
        ". . .",
        "a.b",
        "a,b",
        "dog.",
        "dog .",
        "dog. .",
        "!?",
        ";;",
        "::",
        "a -- b--c",
        "x\u2014y \u2013 z \u2026",
        "\xa1Hola! \xbfqu\xe9?",
        "\u3001\u3002",
        "-LRB- -RRB- -lcb-",
        "c++ C# f#",
        "*hug* \\* \\*\\*",
    ),
    "quotes": (
        'He said "no".',
        '"Quoted" text',
        "'single' quotes",
        "''double'' ``ticks''",
        "\u201ccurly\u201d \u2018single\u2019",
        "\xabfrench\xbb \u2039one\u203a",
        '"',
        "''",
        "'",
        "`",
        '"a"b"',
        "&quot;x&quot;",
        "the 'a' and 'b c'",
        "\x91x\x92 \x93y\x94",
        'say "5" or "$5"',
        "it's 'it''s'",
    ),
    "addresses": (
        "see http://example.com/a?b=c.",
        "https://x.org/(a)",
        "www.example.com/path, ok",
        "example.org",
        "me@example.com",
        "<me@example.com>",
        "&lt;me@x.y&gt;",
        "@user_1 #tag #\xe9t\xe9",
        "file.txt a.tar.gz, x.html.",
        "foo.com/bar.",
        "a@b",
        "http://",
        "ftp.example.net.",
        "photo.JPG photo.jpg",
    ),
    "mark-up": (
        "<b>bold</b> text",
        "<img src='a b.jpg' />",
        '<a href="x">y</a>',
        "<!-- note -->",
        "a <b c",
        "<br/>",
        "&amp; &lt; &gt; &nbsp; &mdash; &#39;",
        "caf&eacute; &Auml;",
        "<not a tag",
        "< b >",
        "<?xml version='1'?>",
        "AT&amp;T",
        "&MD; &ndash; &odq;",
    ),
    "emoticons": (
        ":) :( ;-) =D",
        ":-) ok",
        "^_^ (^_^) >_<",
        "a :) b",
        ":'( :*) :@ :\\",
        "<3 :D",
        "(x_x) (=.=)",
        ":)) :((",
    ),
    "hyphens": (
        "a black-and-white dog",
        "well\u2010known non\u2011breaking",
        "pro-choice anti-war",
        "x-ray x-Ray X-RAY",
        "U.S.-based",
        "-dash dash-",
        "a-b-c.",
        "mid-1990s",
        "20-year-old",
        "s&p-500 S&P500",
        "d'Or-l'eau",
        "e-mail, e-mail.",
        "soft\xadhyphen \xad \xad\xad",
        "under_score a_b_c",
    ),
    "unicode": (
        "\xc9t\xe9 \xe0 la plage",
        "na\xefve fa\xe7ade",
        "\u72d7\u5728\u8dd1\u3002",
        "\u0421\u043e\u0431\u0430\u043a\u0430 \u0431\u0435\u0436\u0438\u0442.",
        "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u039f\u0394\u039f\u03a3",
        "\u0130stanbul I\u0307",
        "\U0001f415 runs",
        "a\U0001f415b",
        "\ufb01sh \ufb02y",
        "e\u0301t\xe9",
        "\u0915\u0941\u0924\u094d\u0924\u093e",
        "\u05db\u05dc\u05d1 \u05e8\u05e5",
        "\u0643\u0644\u0628 \u06d4",
        "\u1e9e \xdf",
        "\u2167 \u24d0",
        "\xb5m \u2103 \u2122 \xa9",
        "x\x00y",
        "\ufeffbom",
        "\u200bzero\u200ewidth",
        "\uff21\uff22 \uff11\uff12 \uff01",
        "\u01c5 \u01c6",
        "\U00010400 \U00010428",
        "http://x.y/\U00010400\u03a3",
        "\u2190 \u25a0 \u2764",
        "\ue000 \uffff \U0010ffff",
    ),
    "surrogates": (
        "\ud83d alone",
        "a\udc15b \ud800\udc00",
        "http://x.y/\ud83d.",
        "etc.\udfff A",
    ),
    "white space": (
        "a  b",
        "  a",
        "a  ",
        "a\tb",
        "a\xa0b",
        "3\xa01/2",
        "a\u2003b \u3000 c",
        "a\x85b",
        "a\u1680b a\u202fb a\u205fb",
        "\t",
        " ",
        "a\xa0\xa0b.",
        "Mr.\xa0Smith",
        "etc.\tA",
    ),
    "line breaks": (
        "a\nb",
        "a\r\nb.",
        "a\u2028b\u2029c",
        "a\x0bb\x0cc",
        "\n",
        "a.\nB",
        "etc.\nThe dog",
        "a\n\n\nb",
    ),
    "empty": (
        "",
        ".",
        "...",
        "!",
        "''",
        "-- -",
        "( )",
    ),
}
"""Texts of the tokeniser by kind; drawn texts are added to them."""

PIECES = (
    "dog",
    "Mr.",
    "U.S.",
    "etc.",
    "can't",
    "3 1/2",
    "don\u2019t",
    "(555)",
    "123-4567",
    "<b>",
    "&amp;",
    "...",
    "--",
    "\u2014",
    "\xbd",
    "Jan.",
    "No.",
    "5",
    "p.m.",
    "The",
    "a",
    "A",
    "'s",
    '"x"',
    ":)",
    "http://a.b/c",
    "caf\xe9",
    "\u72d7",
    "\xad",
    "well-known",
    "$5",
    "Ph.D.",
    "J.",
    ",",
    ".",
    ";",
    "?",
    "!",
    "-",
    "/",
    "and/or",
    "@x",
    "#y",
    "Inc.",
    "'90s",
    "gonna",
    "&quot;",
    "\u201cq\u201d",
    "\t",
    "\xa0",
    "\U0001f415",
    "Pty.",
    "ltd",
    "St.",
    "\u2026",
    "x.txt",
)

STEM_WORDS = {
    "plain": (
        "dog dogs running runner runs ran easily flies flying cats boxes churches "
        "happily happiness children "
        "walked walking talks nation national"
    ),
    "short": (
        "a is be by it as at us ox i y yy ya ay 's s' ' '' ''' bed fed see sees bus "
        "gas this yes ties cries ed ing ly e ee"
    ),
    "whole words": (
        "skis skies dying lying tying idly gently ugly early only singly sky news "
        "howe atlas cosmos bias andes"
    ),
    "complete words": (
        "inning innings outing outings canning herring herrings earring earrings "
        "proceed proceeds exceed exceeded succeed succeeds"
    ),
    "apostrophes": (
        "'dog dog's dogs' dog's' '' 'tis o'clock 's's rock'n'roll n't it's 'em''"
    ),
    "consonant y": (
        "youth yes saying toy boyish cry cries by syzygy enjoyment yyy say says "
        "player yellowy keyed buying"
    ),
    "regions": (
        "generate general generously communism community arsenal arsenic beautiful "
        "beauty animadversion sprinkled eucharist"
    ),
    "step 1": (
        "caresses ponies ties cries gaps gas kiwis abyss viruses feed agreed "
        "agreedly disabled matting mating "
        "meeting milling sing singed hopping hoping hoped luxuriated troubled sized "
        "fizzed falling hissing filed "
        "failing bled sky happy enjoy bedding egging odd added ebbed rapped hugging"
    ),
    "step 2": (
        "relational conditional rationally valenci hesitanci digitizer conformabli "
        "radicalli differentli vileli "
        "analogousli vietnamization predication operator feudalism decisiveness "
        "hopefulness callousness "
        "formaliti sensitiviti sensibiliti apologi apology geology geologi quickly "
        "slowly badly only sadly "
        "usefulli helplessli possibli abli"
    ),
    "step 3": (
        "triplicate formative formalize electriciti electrical hopeful goodness "
        "national irrational "
        "communicative talkative demonstrative creative native"
    ),
    "step 4": (
        "revival allowance inference airliner gyroscopic adjustable defensible "
        "irritant replacement adjustment "
        "dependent adoption mission communion angularity homologous effective "
        "bowdlerize criticism activate "
        "iterate onion action"
    ),
    "step 5": (
        "probate rate cease controll roll tell tall fall be the agree care ale hope "
        "hopeless little able"
    ),
    "unicode": (
        "caf\xe9s na\xefvely \u72d7s \u0441\u043e\u0431\u0430\u043a\u0438 \xe9s "
        "stra\xdfen \U0001f415s \xe9ing "
        "\xfcbering na\xefve's \u03c3\u03c2 a\u0301s"
    ),
    "surrogates": "\ud83ds \udc15ing run\ud800ning",
    "digits and marks": (
        "1990s 2nd 3-ing well-knowned u.s. co-operating x's' 12ed __ing .s mp3s a1ed"
    ),
}

LEXICONS = {
    "small": {
        "function_words": "a\nthe\nof\nin\non\nand\nis\n.\n,\nto\n's\n",
        "prefixes": (
            "# a comment\nMr\nDr\nSt\nNo #NUMERIC_ONLY#\npp #NUMERIC_ONLY# more\n\n"
        ),
        "exceptions": "go\nwent gone\nbe\nwas were went\nfoot\nfeet\n",
        "synsets": (
            "dog\n30\nhound\n30 31\nman\n40\nperson\n41 40\ncar\n50\nvehicle\n50 52\n"
            "bike\n52\nbe\n8\ngo\n7 100\n"
            "move\n100\nfoot\n60\npaw\n60\nbox\n70\ncrate\n71 70\ncity\n80\ntown\n"
            "80\nhappy\n90\nglad\n90\n"
            "house\n95\nhome\n95\nbus\n51\ncoach\n51\nbeful\n8\n"
        ),
        "paraphrases": [
            ["a dog", "the dog"],
            ["a dog", "dog"],
            ["dog", "hound"],
            ["a dog", "an animal that barks"],
            ["the dog", "a dog"],
            ["next to", "beside"],
            ["next to", "by the side of"],
            ["looks at", "is looking at"],
            ["runs", "is running"],
            ["is running", "runs"],
            ["in the rain", "while it rains"],
            ["a man", "someone"],
            ["a man", "a person"],
            ["the the", "the"],
            ["two", "a pair of"],
            ["caf\xe9", "coffee house"],
            ["sits on", "is seated on"],
            ["at night", "after dark"],
            ["after dark", "at night"],
            ["dog dog", "dogs"],
            ["dog", "hound"],
        ],
    },
    "bare": {
        "function_words": "-\n",
        "prefixes": "",
        "exceptions": "-\n-\n",
        "synsets": "-\n1\n",
        "paraphrases": [["-", "--"]],
    },
}
"""Lexicons in the forms of the files that METEOR reads;
``bare`` knows no word of any text.
"""

METEOR_PAIRS = {
    "plain": [
        ("a dog runs", ["a dog runs", "the dog is running"]),
        ("the cat sat on the mat", ["a cat sits on a mat"]),
        ("a man rides a bike", ["a person rides a bicycle", "someone on a bike"]),
    ],
    "stems": [
        ("dogs running quickly", ["the dog runs quick"]),
        ("happily walked", ["happy walking", "happiness walks"]),
        ("generously generous", ["generous generously"]),
    ],
    "synonyms": [
        ("a hound went home", ["a dog goes to the house"]),
        ("persons move", ["men go", "people went"]),
        ("boxes in cities", ["a crate in a town"]),
        ("glad feet", ["happy paws", "happier foot"]),
        ("the coaches", ["busses buses bus"]),
    ],
    "paraphrases": [
        (
            "a dog sits next to a man",
            ["the dog is seated on someone", "dog beside a person"],
        ),
        ("an animal that barks runs", ["a dog is running"]),
        ("the the dog dog", ["the dogs", "a dog"]),
        ("caf\xe9 at night", ["coffee house after dark"]),
    ],
    "normaliser": [
        ("Mr. Smith's U.S. flag, well-known.", ["mr. smith 's us flag", "Mr Smith"]),
        ("Wait... what?!", ["wait . . . what ? !", "wait ..."]),
        ("No. 5 is no. Five", ["No 5", "no . 5"]),
        ("a,b 1,000 a,1 1,a", ["a , b 1,000", "a, b"]),
        ("don't 'quote' ''x'' \u201cy\u201d", ["do n't ' quote '", "don 't"]),
        ("a--b a-b - -x \u2013", ["a b a b", "a - b"]),
        ("90's 'n' rock`n`roll", ["90 's n"]),
        ("e.g. this. And.", ["eg this . and ."]),
        ("DOTMULTI a.. b", ["DOTMULTI. a . . b", "dotmulti"]),
        ("pp. 5 pp. x St. Ives", ["pp. 5 pp . x st. ives"]),
        ("x.. y... z.... .", ["x . . y . . ."]),
        ("(a) [b] {c} <d> \xabe\xbb", ["a b c d e"]),
    ],
    "empty": [
        ("", ["a dog"]),
        ("a dog", [""]),
        ("", [""]),
        ("...", ["a"]),
        (" \t\n", ["a", " "]),
        ("\xa0", ["a"]),
    ],
    "ties": [
        ("a b a b", ["b a b a", "a b a b a"]),
        ("x y", ["y x", "x z", "z y"]),
        ("a dog a dog", ["dog a dog a", "a a dog dog"]),
        ("the the the", ["the the", "the the the the"]),
    ],
    "unicode": [
        (
            "\xc9t\xe9 \u72d7 \u0421\u043e\u0431\u0430\u043a\u0430",
            ["\xe9t\xe9 \u72d7 \u0441\u043e\u0431\u0430\u043a\u0430"],
        ),
        ("Aa BB", ["aa bb"]),
        ("ue g7", ["vF \u0441", "g7"]),
        ("\U0001f415 \u03a3\u03a3", ["\U0001f415 \u03c3\u03c2"]),
        ("\u0130 a\u3000b", ["i\u0307 a b"]),
        ("em a\xe9", ["a\xe9 em", "a\xe9"]),
    ],
    "surrogates": [
        ("\ud83d dog", ["\ufffd dog", "\udc15 dog"]),
        ("a \ud83d\ud83d", ["a \ufffd \ufffd", "\udc15"]),
    ],
}
"""Pairs of METEOR by kind; drawn pairs are added to them. ``em`` and ``a\u00e9`` have
one Java hash.
"""

METEOR_WORDS = (
    *(
        "dog",
        "hound",
        "man",
        "person",
        "went",
        "goes",
        "runs",
        "is",
        "running",
        "next",
        "to",
        "beside",
        "dogs",
        "boxes",
    ),
    *("crate", "the", "a", "night", "feet", "happily"),
)


def ptb_cases() -> Iterator[Case]:
    """Yield the inputs of the tokeniser."""
    draws = Draws(11)
    for kind, texts in PTB_TEXTS.items():
        yield from ({"kind": kind, "text": text} for text in texts)

    for _ in range(60):
        text = caption(draws)
        yield {
            "kind": "plain",
            "text": text.capitalize() + draws.one(["", ".", "!", " ."]),
        }

    for _ in range(110):
        yield {
            "kind": "mixed",
            "text": " ".join(draws.one(PIECES) for _ in range(1 + draws.below(9))),
        }
    for _ in range(50):
        yield {
            "kind": "mixed",
            "text": "".join(draws.one(PIECES) for _ in range(2 + draws.below(4))),
        }

    for size in (200, 300):
        yield {
            "kind": "long",
            "text": " ".join(draws.one((*PIECES, caption(draws))) for _ in range(size)),
        }
    yield {"kind": "long", "text": "a" * 2000}
    yield {"kind": "long", "text": "a-" * 300 + "." * 300}


def stem_cases() -> Iterator[Case]:
    """Yield the inputs of the stemmer."""
    for kind, words in STEM_WORDS.items():
        yield from ({"kind": kind, "word": word} for word in words.split(" "))
    yield {"kind": "long", "word": "ab" * 200 + "ations"}


def meteor_cases() -> Iterator[Case]:
    """Yield the inputs of METEOR."""
    draws = Draws(17)
    for kind, pairs in METEOR_PAIRS.items():
        for pair in pairs:
            yield _meteor_case(kind, [pair])

    together = [
        pair
        for kind, pairs in METEOR_PAIRS.items()
        if kind != "surrogates"
        for pair in pairs
    ]
    yield _meteor_case("plain", together)
    yield _meteor_case("plain", together, "bare")

    drawn: dict[str, tuple[int, Sequence[str]]] = {
        "plain": (60, METEOR_WORDS),
        "punctuation": (25, [*MARKS, "U.S.", "Mr.", "a,b"]),
        "numbers": (15, ["1", "1,000", "3.5", "No.", "5", "1990's"]),
        "unicode": (20, STRANGE_WORDS),
    }
    for kind, (count, others) in drawn.items():
        for number in range(count):
            pairs = [
                _meteor_pair(draws, 1 + draws.below(3), others)
                for _ in range(1 + draws.below(3))
            ]
            yield _meteor_case(kind, pairs, "bare" if number % 7 == 6 else "small")

    for _ in range(15):
        yield _meteor_case(
            "many references", [_meteor_pair(draws, 6 + draws.below(10), METEOR_WORDS)]
        )
    for _ in range(30):
        texts = [
            " ".join(
                draws.one(("a", "the", "dog", "dogs", "hound", "."))
                for _ in range(2 + draws.below(12))
            )
            for _ in range(3)
        ]
        yield _meteor_case("repeated words", [(texts[0], texts[1:])])

    for size in (60, 150, 260):
        texts = [
            " ".join(
                altered(draws, caption(draws), 0.3, METEOR_WORDS)
                for _ in range(size // 8)
            )
            for _ in range(2)
        ]
        yield _meteor_case("long", [(texts[0], texts[1:])])
    for size in (30, 45):
        texts = [
            " ".join(draws.one(("a", "dog", "dogs")) for _ in range(size))
            for _ in range(2)
        ]
        yield _meteor_case("long", [(texts[0], texts[1:])])


def _meteor_pair(
    draws: Draws, n_references: int, others: Sequence[str]
) -> tuple[str, list[str]]:
    scene = " ".join(draws.one(parts) for parts in (SUBJECTS, ACTIONS, PLACES, ENDINGS))
    return altered(draws, scene, 0.5, others), [
        altered(draws, scene, 0.5, others) for _ in range(n_references)
    ]


def _meteor_case(
    kind: str, pairs: list[tuple[str, list[str]]], lexicon: str = "small"
) -> Case:
    return {
        "kind": kind,
        "lexicon": lexicon,
        "candidates": [candidate for candidate, _ in pairs],
        "references": [references for _, references in pairs],
    }
