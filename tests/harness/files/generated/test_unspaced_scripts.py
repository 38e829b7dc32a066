"""Languages that are written without blanks."""

from __future__ import annotations

import pytest

from harness.files.generated.unspaced_scripts import ScriptCount


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["一个男人骑着自行车", "一只猫睡觉"], "Chinese"),
        (["一个人在用iPhone打电话，旁边有一只狗", "两个人"], "Chinese"),
        (["白い犬が芝生の上を走っている", "猫が寝ている"], "Japanese"),
        (["ผู้ชายกำลังขี่จักรยาน", "แมวนอนหลับ"], "Thai"),
        (["ຜູ້ຊາຍຂີ່ລົດຖີບ"], "Lao"),
        (["បុរសម្នាក់ជិះកង់"], "Khmer"),
        (["အမျိုးသားတစ်ဦး စက်ဘီးစီးနေသည်"], "Myanmar"),
        (["一 只 猫 睡 觉", "两 个 人"], ""),
        (["一只 猫 在 沙发 上 睡觉", "一个 男人 骑着 自行车"], ""),
        (["ผู้ชาย กำลัง ขี่ จักรยาน"], ""),
        (["a man rides a bike past a shop named 北京"], ""),
        (["un garçon à vélo", "한 남자가 자전거를 탄다", "мужчина на велосипеде"], ""),
        ([], ""),
    ],
)
def test_the_language_is_that_of_most_letters(texts: list[str], language: str):
    count = ScriptCount()
    count.add(texts)
    assert count.language() == language
