"""lit configuration of cwm; see lit.site.cfg.py.in for what CMake fills in."""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "CWM"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.cwm_obj_root, "test")
if len(os.sched_getaffinity(0)) > 1:
    config.available_features.add("two-cores")
config.available_features.add("sanitizer" if config.cwm_sanitize else "no-sanitizer")

if config.cwm_torch:
    config.available_features.add("torch")

llvm_config.with_system_environment(["HOME", "TMP", "TEMP", "ASAN_OPTIONS", "UBSAN_OPTIONS"])
llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
tools_dir = os.path.join(config.cwm_obj_root, "bin")
llvm_config.with_environment("PATH", tools_dir, append_path=True)
config.substitutions.append(("%cwm_plugin", os.path.join(config.cwm_obj_root, "lib", "CwmPlugin.so")))
config.substitutions.append(("%cwm_src", config.cwm_src_root))
config.substitutions.append(("%llvm_lib", config.llvm_lib_dir))
config.substitutions.append(("%python", os.path.join(config.cwm_venv, "bin", "python3")))
llvm_config.add_tool_substitutions(
    [
        "cwm-opt",
        ToolSubst("cwm-tune", unresolved="ignore"),
        ToolSubst("cwm-train", unresolved="ignore"),
        ToolSubst("cwm-runner", unresolved="ignore"),
        "mlir-opt",
        "mlir-translate",
        "mlir-runner",
        "clang",
        ToolSubst("sqlite3", "sqlite3", unresolved="ignore"),
    ],
    [tools_dir, config.llvm_tools_dir],
)
