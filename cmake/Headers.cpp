//===- Headers.cpp - The owner of the precompiled headers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
