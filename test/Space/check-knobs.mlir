// RUN: split-file %s %t
// RUN: cwm-opt --cwm-check-knobs="schedule=%t/schedule.mlir" %t/payload.mlir -o /dev/null 2>&1 >%t/summary | FileCheck %s
// RUN: FileCheck %s --check-prefix=SUMMARY --input-file %t/summary
// tile 3, nobody 2, limited 3, how 3, up 3
// SUMMARY: looked at 14 options of 5 knobs: each option of 1 of the knobs leads to an IR of its own
// Without a schedule: the sketches that fit, which have no such options.
// RUN: cwm-opt --cwm-check-knobs %cwm_src/benchmarks/payloads/matmul_512.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=SKETCHES --implicit-check-not=warning
// SKETCHES: looked at {{[1-9][0-9]*}} options of [[N:[0-9]+]] knobs: each option of [[N]] of the knobs leads to an IR of its own
// RUN: not cwm-opt --cwm-check-knobs=hardware=%t/missing.json %t/payload.mlir 2>&1 | FileCheck %s --check-prefix=HARDWARE
// HARDWARE: error: {{.*}}missing.json
// RUN: not cwm-opt --cwm-check-knobs="schedule=%t/missing.mlir" %t/payload.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: missing.mlir

// CHECK-NOT: warning
// CHECK: schedule.mlir:4:15: warning: options 1, 2 of knob "nobody" lead to the same IR
// CHECK-NOT: warning
// CHECK: schedule.mlir:5:16: warning: constraints allow no candidate with option 3 of knob "limited"
// CHECK-NOT: warning
// CHECK: schedule.mlir:15:5: warning: options 1, 2 of knob "how" lead to the same IR
// CHECK-NOT: warning
// CHECK: schedule.mlir:{{[0-9:]+}} warning: schedule fails with option 9 of knob "up": {{.+}}
// CHECK-NOT: warning

//--- payload.mlir
func.func @kernel(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

//--- schedule.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %tile = transform.tune.knob<"tile"> options = [8, 16, 32] -> !transform.param<i64>
    %nobody = transform.tune.knob<"nobody"> options = [1, 2] -> !transform.param<i64>
    %limited = transform.tune.knob<"limited"> options = [1, 2, 3] -> !transform.param<i64>
    transform.smt.constrain_params(%limited) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      %c = smt.int.constant 3
      %l = smt.int.cmp lt %x, %c
      smt.assert %l
    }
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %0 "limited" = %limited : !transform.any_op, !transform.param<i64>
    %1, %l = transform.structured.tile_using_for %0 tile_sizes [%tile] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.tune.alternatives<"how"> {
      %2 = transform.get_parent_op %1 {nth_parent = 1 : i64, cwm.bind = {nth_parent = {knob = "up", options = [1, 2, 9]}}} : (!transform.any_op) -> !transform.any_op
      transform.annotate %2 "up" : !transform.any_op
    }, {
    }, {
      %3 = transform.get_parent_op %1 : (!transform.any_op) -> !transform.any_op
    }
    transform.yield
  }
}
