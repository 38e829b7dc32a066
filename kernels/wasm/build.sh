#!/bin/sh
# Builds kernels/js/caption_kernels.wasm with the wheel `ziglang` of $ZIG_PYTHON. The module imports nothing, no WASI either.
set -eu
cd "$(dirname "$0")/.."
exports=$(sed -n 's/^[a-z].*\b\(ck_[a-z_]*\)(.*/\1/p' include/caption_kernels.h wasm/caption_kernels_wasm.h | sort -u)
# Without vector instructions that fuse or reorder: the digits are those of the other builds.
exec "${ZIG_PYTHON:-python3}" -m ziglang c++ -target wasm32-wasi -O2 -msimd128 -std=c++20 -fno-exceptions -fno-rtti -ffp-contract=off \
  -fno-fast-math -Wall -Wextra -mexec-model=reactor -Iinclude -Icore -Iwasm -s -Wl,-z,stack-size=4194304 \
  $(for name in malloc free $exports; do printf ' -Wl,--export=%s' "$name"; done) \
  -o js/caption_kernels.wasm core/*.cpp wasm/*.cpp
