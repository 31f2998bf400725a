//===- gloo/transport/device.h - Declared only -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_GLOO_TRANSPORT_DEVICE_H
#define CWM_GLOO_TRANSPORT_DEVICE_H

namespace gloo::transport {
class Device;
class UnboundBuffer;
} // namespace gloo::transport

#endif // CWM_GLOO_TRANSPORT_DEVICE_H
