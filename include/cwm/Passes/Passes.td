//===- Passes.td - Passes of cwm --------------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_PASSES_PASSES_TD
#define CWM_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ContractArithmetic : Pass<"cwm-contract-arithmetic"> {
  let summary = "allow contraction of floating-point multiply and add";
  let description = [{
    Adds the `contract` fast-math flag to floating-point additions,
    subtractions and multiplications of the arith dialect, so that LLVM forms
    fused multiply-adds. Nothing else about the arithmetic is relaxed.
  }];
}

def BindSchedule : Pass<"cwm-bind", "::mlir::ModuleOp"> {
  let summary = "bind one candidate of a schedule";
  let description = [{
    Replaces a schedule with knobs by the script of one candidate: knobs and
    alternatives selected, `cwm.bind` attributes resolved, constraints checked
    and removed. What is left are upstream operations only, unless the schedule
    uses ours.

    Knobs that are not named have their default option. An unknown knob or
    option, and an assignment that violates a constraint, is an error.
  }];
  let options = [
    Option<"assignment", "knobs", "std::string", "\"\"",
           "options as NAME=VALUE,... or the key of a candidate">
  ];
}

def InspectSpace : Pass<"cwm-space", "::mlir::ModuleOp"> {
  let summary = "print what a schedule leaves open";
  let description = [{
    Prints on standard output the number of candidates of a schedule and,
    where asked for, its knobs, its first candidates, or random ones. The
    schedule itself is left as it is.
  }];
  let options = [
    Option<"list", "list", "bool", "false", "print each knob with its options">,
    Option<"enumerate", "enumerate", "int64_t", "0",
           "print the keys of the first N candidates; -1: all">,
    Option<"sample", "sample", "int64_t", "0",
           "print the keys of N random candidates">,
    Option<"seed", "seed", "uint64_t", "0", "seed of the random candidates">
  ];
}

#endif // CWM_PASSES_PASSES_TD
