#!/bin/sh
# Installs caption-kernels and caption-kernels-reference, editable, into the environment of an interpreter:
# kernels/install.sh .venv/bin/python [options of pip install].
# It is built with the C++ compiler of this machine, else with that of the wheel `ziglang`. Without either the reference engine runs.
set -e
python=$("$1" -c "import sys; print(sys.executable)")
shift
folder=$(cd "$(dirname "$0")" && pwd)

knows_cxx20() {
  printf '#include <span>\nint main() { return static_cast<int>(std::span<int>().size()); }\n' > "$scratch/a.cpp"
  $1 -std=c++20 -fsyntax-only "$scratch/a.cpp" 2> /dev/null
}

find_compiler() {
  for compiler in "$CXX" c++ g++ clang++; do
    if [ -n "$compiler" ] && knows_cxx20 "$compiler"; then
      export CXX="$compiler"
      return
    fi
  done
  echo "  no C++20 compiler on this machine: building with zig c++ of the wheel ziglang (two minutes the first time)"
  if "$python" -m pip install --quiet ziglang 2> /dev/null; then
    export ZIG_PYTHON="$python" CMAKE_TOOLCHAIN_FILE="$folder/zig/toolchain.cmake"
  else
    echo "  ziglang cannot be installed: the reference engine runs, slowly"
  fi
}

# CMake keeps the compiler and the interpreter of its first run.
forget_other_builds() {
  tools="$CXX $CMAKE_TOOLCHAIN_FILE $("$python" -c "import sys; print(sys.executable, sys.version)")"
  if [ "$tools" != "$(cat "$folder/editable/.tools" 2> /dev/null)" ]; then
    find "$folder/editable" -mindepth 1 -maxdepth 1 -not -name CMakeLists.txt -not -name .gitignore -exec rm -rf {} +
    printf '%s' "$tools" > "$folder/editable/.tools"
  fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.7" cmake ninja "setuptools>=77"
find_compiler
forget_other_builds
"$python" -m pip install --quiet --no-build-isolation "$@" -e "$folder" -e "$folder/reference"
