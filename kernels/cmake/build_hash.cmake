# Writes a header with CK_BUILD_HASH, 16 hex digits: SHA-256 of the lines "<SHA-256 of the file>  <path>\n", ordered by path.
# Comments that name the package of the reference engine count as if it were still part of this one, so that its move to a distribution
# of its own keeps the hash, and with it the numbers that are stored under it.
list(SORT FILES)
set(lines "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  string(REPLACE "caption_kernels_reference/" "caption_kernels/reference/" text "${text}")
  string(REPLACE "caption_kernels_reference" "caption_kernels.reference" text "${text}")
  string(SHA256 hash "${text}")
  string(APPEND lines "${hash}  ${file}\n")
endforeach()
string(SHA256 hash "${lines}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT} "#define CK_BUILD_HASH \"${hash}\"\n")
