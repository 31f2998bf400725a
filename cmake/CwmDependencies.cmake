# What cwm is built from, and why.
#
# MLIR, LLVM 22.1   the compiler itself. Only the two dylib targets are linked:
#                   the component archives would duplicate every symbol of
#                   libMLIR.so, and TypeIDs would no longer be unique. One minor
#                   version, because the recorder depends on an interface layout.
set(CWM_LLVM_PREFIX "/usr/lib/llvm-22" CACHE PATH "Prefix of the LLVM 22 packages")
find_package(MLIR 22.1 CONFIG HINTS "${CWM_LLVM_PREFIX}/lib/cmake/mlir")
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "cwm needs MLIR 22.1 (packages libmlir-22-dev and mlir-22-tools); "
    "run scripts/setup.sh, or point CWM_LLVM_PREFIX at an LLVM 22.1 installation")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22 OR NOT LLVM_VERSION_MINOR EQUAL 1)
  message(FATAL_ERROR "cwm supports LLVM 22.1.x, found ${LLVM_PACKAGE_VERSION}; see CONTRIBUTING.md, LLVM version policy")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
target_include_directories(cwm_flags SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(cwm_flags INTERFACE
  "${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
separate_arguments(CWM_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_options(cwm_flags INTERFACE ${CWM_LLVM_DEFINITIONS})
target_link_libraries(cwm_flags INTERFACE MLIR LLVM)

# SQLite 3          the record store: atomic commits, survives kill -9.
find_package(SQLite3 REQUIRED)

# Zstandard         compressed states and data files. LLVM's package finds it.
if(NOT TARGET zstd::libzstd_shared)
  message(FATAL_ERROR "no Zstandard (package libzstd-dev): run scripts/setup.sh")
endif()

# XGBoost 3.2       the ranker. Loaded with dlopen on first use from the
#                   xgboost-cpu wheel in the project's venv (the wheel has no
#                   headers: include/cwm/Model/XGBoostAPI.h declares what we call).
set(CWM_VENV "${CMAKE_SOURCE_DIR}/.venv" CACHE PATH "Python environment made by scripts/setup.sh")
file(GLOB CWM_XGBOOST_CANDIDATES "${CWM_VENV}/lib/python3*/site-packages/xgboost/lib/libxgboost.so")
set(CWM_XGBOOST_FOUND "")
if(CWM_XGBOOST_CANDIDATES)
  list(GET CWM_XGBOOST_CANDIDATES 0 CWM_XGBOOST_FOUND)
else()
  message(WARNING "no xgboost-cpu in ${CWM_VENV}: the ranker will be unavailable; run scripts/setup.sh")
endif()
set(CWM_XGBOOST_LIBRARY "${CWM_XGBOOST_FOUND}" CACHE FILEPATH "libxgboost.so 3.x")
if(NOT CWM_XGBOOST_LIBRARY)  # configured before setup.sh had run
  set(CWM_XGBOOST_LIBRARY "${CWM_XGBOOST_FOUND}" CACHE FILEPATH "libxgboost.so 3.x" FORCE)
endif()

# libtorch 2.13     the encoder and its training: cmake/Torch.cmake. One module
#                   library links it, and is opened on first use.
option(CWM_ENABLE_TORCH "Build the encoder, which needs the PyTorch CPU wheel" ON)

# libomp            LLVM's OpenMP runtime, which kernels of several threads call.
#                   Loaded with dlopen by the measuring worker when there are
#                   more than one: a kernel of one thread needs none of it, and
#                   its start-up and threads would only disturb.
find_library(CWM_OPENMP_LIBRARY NAMES libomp.so.5 libomp.so
  HINTS "${CWM_LLVM_PREFIX}/lib" DOC "LLVM's OpenMP runtime")
if(NOT CWM_OPENMP_LIBRARY)
  set(CWM_OPENMP_LIBRARY "libomp.so.5" CACHE FILEPATH "LLVM's OpenMP runtime" FORCE)
  message(WARNING "no libomp (package libomp-22-dev): cwm-tune --threads=2 and more will not run; run scripts/setup.sh")
endif()

# GoogleTest, lit   the tests.
if(CWM_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # Debian's LLVMConfig names a lit that the package does not ship.
  set(LLVM_EXTERNAL_LIT "${CWM_LLVM_PREFIX}/bin/lit" CACHE STRING "" FORCE)
endif()
