# Builds with the wheel `ziglang`: CMAKE_TOOLCHAIN_FILE=kernels/zig/toolchain.cmake pip install ./kernels
if("$ENV{ZIG_TARGET}" MATCHES "^(aarch64|x86_64)-linux")
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
endif()
# Only the extension is linked: zig builds its C++ library once for programs and once for extensions, a minute each.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zigcc)
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zigc++)
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/zigar CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_AR ${CMAKE_AR} CACHE FILEPATH "")
set(CMAKE_RANLIB "" CACHE FILEPATH "")  # `zig ar` writes the table of symbols itself
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcs <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qs <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "")
