// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/odd.mlir steps=all" -o /dev/null | FileCheck %s

// CHECK: "name":"annotate","operands":["(empty)"]
// CHECK: "name":"param.constant"{{.*}}"results":["\"two\\0Alines\""]
// CHECK: "name":"param.constant"{{.*}}"results":["tensor<4xf32>"]
// CHECK: "operands":["linalg.matmul","\"two\\0Alines\""]{{.*}}"text":"annotate name=\"text\" params=[\"two\\0Alines\"] on linalg.matmul"
// CHECK: "text":"annotate name=\"big\" params=[dense<hash [[#%x,]]> : tensor<20xi64>] on linalg.matmul"
// CHECK: "name":"get_operand"{{.*}}"results":["value of tensor<128x256xf32>"]
// CHECK: "name":"structured.match"{{.*}}"results":["linalg.fill, linalg.matmul"]
