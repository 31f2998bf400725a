//===- Lowering.h - From a scheduled payload to object code -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TARGET_CPU_LOWERING_H
#define CWM_TARGET_CPU_LOWERING_H

#include "cwm/Target/CPU/Hardware.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"

namespace cwm {

struct CPULoweringOptions {
  /// Polynomial exp, tanh and erf on vectors instead of libm calls.
  bool polynomialMath = true;
  /// Let LLVM form fused multiply-adds (cwm-contract-arithmetic).
  bool contract = true;
  /// Use upstream passes only, as a user of stock mlir-opt would.
  bool stockOnly = false;
  /// Parallel loops (scf.forall) run on so many threads, by calls of LLVM's
  /// OpenMP runtime; 1: on the caller's, without it.
  int64_t threads = 1;
};

/// Appends the pipeline `cwm-lower-to-cpu`: bufferises what is still on
/// tensors (results become trailing out-parameters), frees temporaries, lowers
/// vectors, loops and arithmetic to the LLVM dialect. The entry function
/// afterwards takes one bare pointer for each input, then for each result.
void buildCPULowering(mlir::OpPassManager &manager,
                      const CPULoweringOptions &options = {});

/// The same pipeline as text for `mlir-opt --pass-pipeline`.
std::string getCPULoweringPipeline(const CPULoweringOptions &options = {});

/// Registers the pipeline `cwm-lower-to-cpu` and the upstream passes it is made
/// of, once per process.
void registerCPULoweringPipeline();

/// Loads what compileToObject needs to translate to LLVM IR.
void registerCPUTranslations(mlir::DialectRegistry &registry);

/// Name of the entry that compileToObject adds: `void (void **buffers)`,
/// pointers to all inputs, then all results.
inline constexpr llvm::StringLiteral packedEntryName = "cwm_packed_entry";

/// What compileToObject adds where cwm-hoist-constants split the entry:
/// functions of the same type that take pointers to all constants and packed
/// buffers, and to all inputs, results and packed buffers; and the table that
/// describes them.
inline constexpr llvm::StringLiteral prepackEntryName = "cwm_prepack_entry";
inline constexpr llvm::StringLiteral prepackedEntryName = "cwm_prepacked_entry";
inline constexpr llvm::StringLiteral prepackTableName = "cwm_prepack_table";

/// Translates a module in the LLVM dialect, optimises it for `hardware`
/// (-O2 pipeline) and emits an ELF object with `entry` and packedEntryName.
/// Memory allocations go through cwm_alloc and cwm_free of runtime/.
llvm::Expected<llvm::SmallVector<char, 0>>
compileToObject(mlir::ModuleOp module, llvm::StringRef entry,
                const HardwareDescription &hardware);

/// Bytes of machine code in an object file.
llvm::Expected<int64_t> getCodeBytes(llvm::ArrayRef<char> object);

} // namespace cwm

#endif // CWM_TARGET_CPU_LOWERING_H
