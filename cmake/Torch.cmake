# libtorch 2.13 from the CPU wheel of PyTorch, for the one library that uses it
# (lib/Model/Torch). No Python runs. Included in that folder only, because
# torch's own CMake files set variables and look for packages of theirs.
file(GLOB torch_folders LIST_DIRECTORIES true "${CWM_VENV}/lib/python3*/site-packages/torch")
set(torch_found "${CWM_VENV}")
if(torch_folders)
  list(GET torch_folders 0 torch_found)
endif()
set(CWM_TORCH_PREFIX "" CACHE PATH "Folder `torch` of a PyTorch 2.13 CPU wheel (default: in CWM_VENV)")
if(CWM_TORCH_PREFIX)
  set(torch_found "${CWM_TORCH_PREFIX}")
endif()
if(NOT EXISTS "${torch_found}/share/cmake/Torch/TorchConfig.cmake")
  message(FATAL_ERROR "no PyTorch in ${torch_found}: run scripts/setup.sh, "
    "or build without the encoder: -DCWM_ENABLE_TORCH=OFF")
endif()

# A CUDA build would make TorchConfig look for a CUDA toolkit; say it in words.
file(STRINGS "${torch_found}/version.py" torch_cuda REGEX "^(cuda|hip|xpu)[ :=]")
list(FILTER torch_cuda EXCLUDE REGEX "= None$")
if(torch_cuda)
  message(FATAL_ERROR "${torch_found} is a build of PyTorch for GPUs: install the CPU wheel of 2.13.0 "
    "(see scripts/setup.sh), or build without the encoder: -DCWM_ENABLE_TORCH=OFF")
endif()

# Kineto is inside of libtorch_cpu; without this there is a warning that it is
# not found. Only TORCH_LIBRARIES, which we do not use, would name it.
set(kineto_LIBRARY "unused" CACHE INTERNAL "")
# What an earlier configuration found, perhaps elsewhere.
foreach(cached Torch_DIR Caffe2_DIR TORCH_LIBRARY c10_LIBRARY)
  unset(${cached} CACHE)
endforeach()
find_package(Torch CONFIG PATHS "${torch_found}/share/cmake/Torch" NO_DEFAULT_PATH)
if(NOT Torch_VERSION VERSION_GREATER_EQUAL 2.13 OR NOT Torch_VERSION VERSION_LESS 2.14)
  message(FATAL_ERROR "cwm needs PyTorch 2.13, found ${Torch_VERSION} in ${torch_found}: run scripts/setup.sh")
endif()
# MKL is inside of libtorch_cpu, too; the folders where torch's build had it
# must not become a part of our RUNPATH.
if(TARGET caffe2::mkl)
  set_property(TARGET caffe2::mkl PROPERTY INTERFACE_LINK_DIRECTORIES "")
endif()
