//===- ReferenceKernel.cpp - What all are timed against ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Timing.h"

#include "cwm/Target/CPU/Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cwm {

/// Shape of the kernel: `rows` x 2 vectors of accumulators (12, which fit any
/// register file), `depth` steps, `panels` panels of B. With 16 lanes B takes
/// 512 KiB: A and one panel come from L1, the next panel from L2.
static constexpr int64_t rows = 6, depth = 256, panels = 16, repeats = 12;

/// C[p] = A * B[p] for all panels, again and again; with several threads each
/// on matrices of its own.
static std::string getText(int64_t lanes, int64_t threads) {
  std::string text;
  raw_string_ostream out(text);
  std::string vector = ("vector<" + Twine(lanes) + "xf32>").str();
  std::string copies = threads > 1 ? std::to_string(threads) + "x" : "";
  std::string first = threads > 1 ? "%t, " : "";
  std::string a =
      ("memref<" + copies + Twine(rows) + "x" + Twine(depth) + "xf32>").str();
  std::string b = ("memref<" + copies + Twine(panels) + "x" + Twine(depth) +
                   "x" + Twine(2 * lanes) + "xf32>")
                      .str();
  std::string c = ("memref<" + copies + Twine(panels) + "x" + Twine(rows) +
                   "x" + Twine(2 * lanes) + "xf32>")
                      .str();
  int64_t numAccumulators = 2 * rows;
  std::string types;
  for (int64_t i = 0; i < numAccumulators; ++i)
    types += (i ? ", " : "") + vector;

  out << "func.func @kernel(%A: " << a << ", %B: " << b << ", %C: " << c
      << ") {\n  %c0 = arith.constant 0 : index\n"
         "  %c1 = arith.constant 1 : index\n"
      << "  %lanes = arith.constant " << lanes << " : index\n"
      << "  %depth = arith.constant " << depth << " : index\n"
      << "  %panels = arith.constant " << panels << " : index\n"
      << "  %repeats = arith.constant " << repeats << " : index\n"
      << "  %zero = arith.constant dense<0.0> : " << vector << "\n";
  for (int64_t row = 0; row < rows; ++row)
    out << "  %r" << row << " = arith.constant " << row << " : index\n";
  if (threads > 1)
    out << "  scf.forall (%t) in (" << threads << ") {\n";
  out << "  scf.for %repeat = %c0 to %repeats step %c1 {\n"
         "  scf.for %p = %c0 to %panels step %c1 {\n    %sum:"
      << numAccumulators << " = scf.for %k = %c0 to %depth step %c1 iter_args(";
  for (int64_t i = 0; i < numAccumulators; ++i)
    out << (i ? ", " : "") << "%acc" << i << " = %zero";
  out << ") -> (" << types << ") {\n";
  out << "      %b0 = vector.load %B[" << first << "%p, %k, %c0] : " << b
      << ", " << vector << "\n      %b1 = vector.load %B[" << first
      << "%p, %k, %lanes] : " << b << ", " << vector << "\n";
  for (int64_t row = 0; row < rows; ++row) {
    out << "      %s" << row << " = memref.load %A[" << first << "%r" << row
        << ", %k] : " << a << "\n      %a" << row << " = vector.broadcast %s"
        << row << " : f32 to " << vector << "\n";
    for (int64_t half = 0; half < 2; ++half)
      out << "      %n" << 2 * row + half << " = vector.fma %a" << row << ", %b"
          << half << ", %acc" << 2 * row + half << " : " << vector << "\n";
  }
  out << "      scf.yield ";
  for (int64_t i = 0; i < numAccumulators; ++i)
    out << (i ? ", " : "") << "%n" << i;
  out << " : " << types << "\n    }\n";
  for (int64_t i = 0; i < numAccumulators; ++i)
    out << "    vector.store %sum#" << i << ", %C[" << first << "%p, %r"
        << i / 2 << ", " << (i % 2 ? "%lanes" : "%c0") << "] : " << c << ", "
        << vector << "\n";
  out << "  }\n  }\n" << (threads > 1 ? "  }\n" : "") << "  return\n}\n";
  return text;
}

static std::unique_ptr<float[]> makeBuffer(int64_t numElements) {
  std::unique_ptr<float[]> buffer(new float[numElements]);
  for (int64_t i = 0; i < numElements; ++i)
    buffer[i] = float(i % 7) * 0.25f - 0.75f;
  return buffer;
}

Expected<ReferenceKernel>
ReferenceKernel::create(mlir::MLIRContext *context,
                        const HardwareDescription &hardware, int64_t threads) {
  int64_t lanes = std::max<int64_t>(4, hardware.vectorBits / 32);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(getText(lanes, threads), context);
  if (!module)
    return createStringError("the reference kernel does not parse");
  mlir::PassManager manager(context);
  CPULoweringOptions lowering;
  lowering.threads = threads;
  buildCPULowering(manager, lowering);
  if (mlir::failed(manager.run(*module)))
    return createStringError("the reference kernel cannot be lowered");
  Expected<SmallVector<char, 0>> object =
      compileToObject(*module, "kernel", hardware);
  if (!object)
    return object.takeError();
  Expected<LoadedKernel> kernel = LoadedKernel::load(*object);
  if (!kernel)
    return kernel.takeError();

  ReferenceKernel result(std::move(*kernel));
  int64_t columns = 2 * lanes;
  for (int64_t size :
       {rows * depth, panels * depth * columns, panels * rows * columns})
    result.buffers.push_back(makeBuffer(threads * size));
  for (const auto &buffer : result.buffers)
    result.pointers.push_back(buffer.get());
  result.flops =
      2.0 * double(threads * rows * depth * panels * columns * repeats);
  return std::move(result);
}

} // namespace cwm
