"""Text that is not UTF-8: the encoding that a message proposes, and its command."""

from __future__ import annotations

import gzip
import subprocess

import pytest

from harness.errors import InputError
from harness.files.delimited_tables import delimited_rows
from harness.files.encodings import guess_encoding
from harness.files.forms import read_form

TEXTS = {
    "CP1252": ("cp1252", "id,caption\n1,un café à l’entrée – 5 €\n2,ein Mädchen\n"),
    "ISO-8859-1": ("latin-1", "id,caption\n1,un caf\xe9 \xe0 c\xf4t\xe9 \x81 \xfc\n"),
    "MACINTOSH": ("mac_roman", "id,caption\n1,un café à côté\n2,l’été\n"),
    "UTF-16": ("utf-16", "id,caption\n1,a dog\n"),
    "UTF-16LE": ("utf-16-le", "id,caption\n1,a dog\n"),
    "UTF-16BE": ("utf-16-be", "id,caption\n1,a dog\n"),
    "GB18030": ("gb18030", "id,caption\n1,一只狗在草地上跑\n2,两个人骑自行车\n"),
    "SHIFT_JIS": ("shift_jis", "id,caption\n1,犬が走っています\n2,猫がすわっている\n"),
    "EUC-KR": ("euc_kr", "id,caption\n1,개가 잔디에서 달린다\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_encoding_is_guessed(name):
    encoding, text = TEXTS[name]
    assert guess_encoding(text.encode(encoding)) == name


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("zipped", [False, True])
def test_the_command_that_a_message_names_makes_the_file_readable(
    tmp_path, name, zipped
):
    encoding, text = TEXTS[name]
    path = tmp_path / "my captions.csv"
    path.write_bytes(
        gzip.compress(text.encode(encoding)) if zipped else text.encode(encoding)
    )
    with pytest.raises(InputError) as caught:
        list(read_form(path, "candidates").rows)
    command = (
        str(caught.value)
        .partition("convert it: ")[2]
        .removesuffix(")")
        .replace("NEW", "new.csv")
    )
    assert command and f"({name};" in str(caught.value)
    subprocess.run(["bash", "-o", "pipefail", "-c", command], check=True, cwd=tmp_path)
    assert next(delimited_rows(tmp_path / "new.csv")).fields["id"] == "1"
    assert (tmp_path / "new.csv").read_text(encoding="utf-8").lstrip("\ufeff") == text


@pytest.mark.parametrize(
    "content",
    [
        '[{"id": 1, "caption": "un café"}]',
        '{"id": 1, "caption": "un café"}\n{"id": 2, "caption": "é"}',
        "un café\n",
        "1\tun café\n",
    ],
)
def test_every_form_of_text_names_the_command(tmp_path, content):
    (tmp_path / "f").write_bytes(content.encode("cp1252"))
    with pytest.raises(
        InputError,
        match=r"not UTF-8.*\(CP1252; convert it: iconv -f CP1252 -t UTF-8 .*/f > NEW\)",
    ):
        list(read_form(tmp_path / "f", "candidates").rows)
