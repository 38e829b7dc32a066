#!/usr/bin/env bash
# The first step of action.yml: install the harness and its kernels from PACKAGE, from the git address and tag REF, or from the checkout
# that holds this file.
#
#   REF=https://github.com/OWNER/REPOSITORY@v0.1.0 examples/gate/install.sh
set -euo pipefail
if [ -n "${PACKAGE:-}" ]; then
  if [ -n "${REF:-}" ]; then echo "package and ref are both given: '$PACKAGE' and '$REF'; give one" >&2; exit 2; fi
  read -r -a sources <<< "$PACKAGE"
elif [ -n "${REF:-}" ]; then
  address=${REF%@*}
  if [ "$address" = "$REF" ] || [[ "$address" != *://* ]]; then
    echo "ref is '$REF'; expected ADDRESS@TAG, such as https://github.com/OWNER/REPOSITORY@v0.1.0" >&2; exit 2
  fi
  sources=("git+$REF#subdirectory=kernels" "git+$REF")
else
  root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
  sources=("$root/kernels" "$root")
fi
python -m pip install "${sources[@]}"
