# Options and compile flags that every cwm target shares.
option(CWM_BUILD_TESTS "Build the gtest units and the lit suite" ON)
option(CWM_ENABLE_ASSERTIONS "Keep assert() in our own code (Debian's MLIR has none)" OFF)
option(CWM_ENABLE_WERROR "Treat warnings in our own code as errors" ON)
option(CWM_ENABLE_PCH "Precompile the MLIR headers (clang only: g++ gains nothing)" ON)
set(CWM_SANITIZE "" CACHE STRING "Sanitizers for our own code, e.g. address,undefined")

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# ccache keyed on content, not on the checkout's folder, so that two worktrees
# share one cache; the PCH needs the sloppiness settings.
find_program(CWM_CCACHE ccache)
if(CWM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
      "${CWM_CCACHE}")
endif()

# ABI-relevant facts of Debian's libMLIR: RTTI on, exceptions off, NDEBUG.
add_library(cwm_flags INTERFACE)
target_compile_options(cwm_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fvisibility-inlines-hidden>
  -Wall -Wextra -Wno-unused-parameter)
if(CWM_ENABLE_WERROR)
  target_compile_options(cwm_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++-12 in LLVM's own headers (SmallVector, Twine), and
  # moves into Expected that clang needs in C++17.
  target_compile_options(cwm_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference -Wno-maybe-uninitialized
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-free-nonheap-object -Wno-redundant-move>)
endif()
if(CWM_ENABLE_ASSERTIONS)
  target_compile_options(cwm_flags INTERFACE -UNDEBUG)
else()
  target_compile_definitions(cwm_flags INTERFACE NDEBUG)
endif()
if(CWM_SANITIZE)
  target_compile_options(cwm_flags INTERFACE -fsanitize=${CWM_SANITIZE}
    -fno-omit-frame-pointer -g -fno-sanitize-recover=undefined)
  target_link_options(cwm_flags INTERFACE -fsanitize=${CWM_SANITIZE})
endif()
