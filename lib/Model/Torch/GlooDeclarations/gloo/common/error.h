//===- gloo/common/error.h - Nothing that we need -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_GLOO_COMMON_ERROR_H
#define CWM_GLOO_COMMON_ERROR_H

#endif // CWM_GLOO_COMMON_ERROR_H
