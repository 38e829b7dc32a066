"""Character classes of Stanford's tokeniser: letters, marks, digits and symbols outside ASCII.

The program's tables are those of Unicode 6 and end at U+FFFF; later characters are untokenisable and removed. Python's own
tables differ, and change with every release, so the ranges are listed here: facts about the program, read from its
character tables and checked against its output. Each constant is the inside of a regular expression's character class.
"""

from __future__ import annotations


def _read(ranges: str) -> str:
    """Return hexadecimal ranges as the inside of a character class."""
    return "".join("-".join(f"\\u{end}" for end in item.split("-")) for item in ranges.split())


LETTERS = _read(
    "00aa 00b5 00ba 00c0-00d6 00d8-00f6 00f8-02c1 02c6-02d1 02e0-02e4 02ec 02ee 0370-0374 0376-0377 037a-037d 0386 "
    "0388-038a 038c 038e-03a1 03a3-03f5 03f7-0481 048a-0527 0531-0556 0559 0561-0587 05d0-05ea 05f0-05f2 0620-064a "
    "066e-066f 0671-06d3 06d5 06e5-06e6 06ee-06ef 06fa-06fc 06ff 0710 0712-072f 074d-07a5 07b1 07ca-07ea 07f4-07f5 "
    "07fa 0800-0815 081a 0824 0828 0840-0858 08a0 08a2-08ac 0904-0939 093d 0950 0958-0961 0971-0977 0979-097f "
    "0985-098c 098f-0990 0993-09a8 09aa-09b0 09b2 09b6-09b9 09bd 09ce 09dc-09dd 09df-09e1 09f0-09f1 0a05-0a0a "
    "0a0f-0a10 0a13-0a28 0a2a-0a30 0a32-0a33 0a35-0a36 0a38-0a39 0a59-0a5c 0a5e 0a72-0a74 0a85-0a8d 0a8f-0a91 "
    "0a93-0aa8 0aaa-0ab0 0ab2-0ab3 0ab5-0ab9 0abd 0ad0 0ae0-0ae1 0b05-0b0c 0b0f-0b10 0b13-0b28 0b2a-0b30 0b32-0b33 "
    "0b35-0b39 0b3d 0b5c-0b5d 0b5f-0b61 0b71 0b83 0b85-0b8a 0b8e-0b90 0b92-0b95 0b99-0b9a 0b9c 0b9e-0b9f 0ba3-0ba4 "
    "0ba8-0baa 0bae-0bb9 0bd0 0c05-0c0c 0c0e-0c10 0c12-0c28 0c2a-0c33 0c35-0c39 0c3d 0c58-0c59 0c60-0c61 0c85-0c8c "
    "0c8e-0c90 0c92-0ca8 0caa-0cb3 0cb5-0cb9 0cbd 0cde 0ce0-0ce1 0cf1-0cf2 0d05-0d0c 0d0e-0d10 0d12-0d3a 0d3d 0d4e "
    "0d60-0d61 0d7a-0d7f 0d85-0d96 0d9a-0db1 0db3-0dbb 0dbd 0dc0-0dc6 0e01-0e30 0e32-0e33 0e40-0e46 0e81-0e82 0e84 "
    "0e87-0e88 0e8a 0e8d 0e94-0e97 0e99-0e9f 0ea1-0ea3 0ea5 0ea7 0eaa-0eab 0ead-0eb0 0eb2-0eb3 0ebd 0ec0-0ec4 0ec6 "
    "0edc-0edf 0f00 0f40-0f47 0f49-0f6c 0f88-0f8c 1000-102a 103f 1050-1055 105a-105d 1061 1065-1066 106e-1070 "
    "1075-1081 108e 10a0-10c5 10c7 10cd 10d0-10fa 10fc-1248 124a-124d 1250-1256 1258 125a-125d 1260-1288 128a-128d "
    "1290-12b0 12b2-12b5 12b8-12be 12c0 12c2-12c5 12c8-12d6 12d8-1310 1312-1315 1318-135a 1380-138f 13a0-13f4 "
    "1401-166c 166f-167f 1681-169a 16a0-16ea 1700-170c 170e-1711 1720-1731 1740-1751 1760-176c 176e-1770 1780-17b3 "
    "17d7 17dc 1820-1877 1880-18a8 18aa 18b0-18f5 1900-191c 1950-196d 1970-1974 1980-19ab 19c1-19c7 1a00-1a16 "
    "1a20-1a54 1aa7 1b05-1b33 1b45-1b4b 1b83-1ba0 1bae-1baf 1bba-1be5 1c00-1c23 1c4d-1c4f 1c5a-1c7d 1ce9-1cec "
    "1cee-1cf1 1cf5-1cf6 1d00-1dbf 1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d "
    "1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc 2071 207f "
    "2090-209c 2102 2107 210a-2113 2115 2119-211d 2124 2126 2128 212a-212d 212f-2139 213c-213f 2145-2149 214e "
    "2183-2184 2c00-2c2e 2c30-2c5e 2c60-2ce4 2ceb-2cee 2cf2-2cf3 2d00-2d25 2d27 2d2d 2d30-2d67 2d6f 2d80-2d96 "
    "2da0-2da6 2da8-2dae 2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde 2e2f 3005-3006 3031-3035 "
    "303b-303c 3041-3096 309d-309f 30a1-30fa 30fc-30ff 3105-312d 3131-318e 31a0-31ba 31f0-31ff 3400-4db5 4e00-9fcc "
    "a000-a48c a4d0-a4fd a500-a60c a610-a61f a62a-a62b a640-a66e a67f-a697 a6a0-a6e5 a717-a71f a722-a788 a78b-a78e "
    "a790-a793 a7a0-a7aa a7f8-a801 a803-a805 a807-a80a a80c-a822 a840-a873 a882-a8b3 a8f2-a8f7 a8fb a90a-a925 "
    "a930-a946 a960-a97c a984-a9b2 a9cf aa00-aa28 aa40-aa42 aa44-aa4b aa60-aa76 aa7a aa80-aaaf aab1 aab5-aab6 "
    "aab9-aabd aac0 aac2 aadb-aadd aae0-aaea aaf2-aaf4 ab01-ab06 ab09-ab0e ab11-ab16 ab20-ab26 ab28-ab2e abc0-abe2 "
    "ac00-d7a3 d7b0-d7c6 d7cb-d7fb f900-fa6d fa70-fad9 fb00-fb06 fb13-fb17 fb1d fb1f-fb28 fb2a-fb36 fb38-fb3c fb3e "
    "fb40-fb41 fb43-fb44 fb46-fbb1 fbd3-fd3d fd50-fd8f fd92-fdc7 fdf0-fdfb fe70-fe74 fe76-fefc ff21-ff3a ff41-ff5a "
    "ff66-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc "
)
"""Letters outside ASCII."""

MARKS = _read(
    "02c2-02c5 02d2-02df 02e5-02eb 02ed 02ef-036f 0375 0378-0379 0384-0385 03f6 0483-0487 055a-055f 0591-05bd 05bf "
    "05c1-05c2 05c4-05c5 05c7 0615-061a 064b-065e 0670 06d6-06e4 06e7-06ed 06fd-06fe 070f 0711 0730-074c 07a6-07b0 "
    "07eb-07f3 0900-0903 093c 093e-094e 0951-0955 0962-0963 0981-0983 09bc 09be-09c4 09c7-09c8 09cb-09cd 09d7 "
    "09e2-09e3 0a01-0a03 0a3c 0a3e-0a4f 0a81-0a83 0abc 0abe-0acf 0b82 0bbe-0bc2 0bc6-0bc8 0bca-0bcd 0c01-0c03 "
    "0c3e-0c56 0d3e-0d44 0d46-0d48 0e31 0e34-0e3a 0e47-0e4e 0eb1 0eb4-0ebc 0ec8-0ecd "
)
"""Combining marks and modifiers; they are part of a word but not letters."""

DIGITS = _read(
    "0660-0669 06f0-06f9 07c0-07c9 0966-096f 09e6-09ef 0a66-0a6f 0ae6-0aef 0b66-0b6f 0be6-0bef 0c66-0c6f 0ce6-0cef "
    "0d66-0d6f 0e50-0e59 0ed0-0ed9 0f20-0f29 1040-1049 1090-1099 17e0-17e9 1810-1819 1946-194f 19d0-19d9 1a80-1a89 "
    "1a90-1a99 1b50-1b59 1bb0-1bb9 1c40-1c49 1c50-1c59 a620-a629 a8d0-a8d9 a900-a909 a9d0-a9d9 aa50-aa59 abf0-abf9 "
    "ff10-ff19 "
)
"""Decimal digits outside ASCII."""

SYMBOLS = _read(
    "00a1 00a6-00a9 00ac 00ae-00b1 00b4 00b6-00b8 00bf 00d7 00f7 037e 0387 0589 05be 05c0 05c3 05c6 05f3-05f4 "
    "0600-0603 0606-060a 060c 0614 061b 061e-061f 066a 066d 06d4 0700-070d 07f6-07f8 0964-0965 0e4f 1fbd 2016-2017 "
    "2020-2023 2030-2038 203b 203e-2042 207c-207e 208c-208e 2100-2101 2103-2106 2108-2109 2114 2116-2118 211e-2123 "
    "2125 2127 2129 212e 213a-213b 2140-2144 214a-214d 214f 2190-2bff 3001-3002 3012 30fb ff01-ff0f ff1a-ff20 "
    "ff3b-ff40 ff5b-ff65 "
)
"""Characters outside ASCII that are single tokens."""
