"""Images decoded ahead."""

from __future__ import annotations

import threading

import pytest

from harness.encoders.decoded_images import decode_ahead
from harness.errors import InputError


def test_images_come_in_order_while_later_ones_are_decoded():
    threads = set()

    def decode(name):
        threads.add(threading.get_ident())
        return int(name) ** 2

    names = [str(k) for k in range(50)]
    assert list(decode_ahead(names, decode, workers=3)) == [k**2 for k in range(50)]
    assert threading.get_ident() not in threads
    assert list(decode_ahead([], decode)) == []
    begun = set()

    def begin():
        begun.add(threading.get_ident())

    assert len(list(decode_ahead(names, decode, workers=2, begin=begin))) == 50
    assert 1 <= len(begun) <= 2


def test_an_error_comes_in_the_place_of_its_image():
    def decode(name):
        if name == "broken":
            raise InputError("the image cannot be decoded", name)
        return name

    images = decode_ahead(["a", "b", "broken", *"cdefgh"], decode, workers=2)
    assert [next(images), next(images)] == ["a", "b"]
    with pytest.raises(InputError, match="broken: the image cannot be decoded"):
        next(images)
