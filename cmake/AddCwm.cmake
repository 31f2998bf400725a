# Targets of cwm. One static library a folder of lib/, linked into thin tools.

# One precompiled header for all libraries. Executables do not use it (a PIC
# header does not fit a PIE executable); their mains stay tiny.
if(CWM_ENABLE_PCH AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_library(cwm_pch STATIC "${CMAKE_SOURCE_DIR}/cmake/Pch.cpp")
  target_link_libraries(cwm_pch PUBLIC cwm_flags)
  target_precompile_headers(cwm_pch PRIVATE "${CMAKE_SOURCE_DIR}/cmake/Pch.h")
  set_target_properties(cwm_pch PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
  target_compile_options(cwm_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endif()

# cwm_add_library(NAME source... [LINK_LIBS lib...])
function(cwm_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} cwm_flags)
  add_dependencies(${name} CWMIncGen)
  if(TARGET cwm_pch)
    target_precompile_headers(${name} REUSE_FROM cwm_pch)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# cwm_add_tool(NAME source... [LINK_LIBS lib...])
function(cwm_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} cwm_flags)
  set_property(GLOBAL APPEND PROPERTY CWM_TEST_DEPENDS ${name})
endfunction()

# cwm_add_unittest(NAME source... [LINK_LIBS lib...]): a gtest binary under
# <build>/unittests; `check-cwm-unit` runs them all.
function(cwm_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} cwm_flags GTest::gmock GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/unittests")
  set_property(GLOBAL APPEND PROPERTY CWM_UNITTESTS ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# cwm_tablegen(TD OUT generator...) relative to the calling folder.
macro(cwm_tablegen td out)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${out} ${ARGN} "-I${CMAKE_SOURCE_DIR}/include" "-I${MLIR_INCLUDE_DIRS}")
endmacro()
