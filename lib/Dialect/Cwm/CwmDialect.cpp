//===- CwmDialect.cpp - The cwm dialect -------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dialect/Cwm/CwmDialect.h"

#include "cwm/Dialect/Cwm/CwmDialect.cpp.inc"

void cwm::CwmDialect::initialize() {}
