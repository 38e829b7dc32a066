# Writes a header with CK_BUILD_HASH, 16 hex digits: SHA-256 of the lines "<SHA-256 of the file>  <path>\n", ordered by path.
# `sha256sum FILES | sha256sum` prints the same.
list(SORT FILES)
set(lines "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} hash)
  string(APPEND lines "${hash}  ${file}\n")
endforeach()
string(SHA256 hash "${lines}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT} "#define CK_BUILD_HASH \"${hash}\"\n")
