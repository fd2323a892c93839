//===- OrderFiles.h - Files that an order of the page needs --- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_ORDERFILES_H
#define PIPEC_SERVE_ORDERFILES_H

#include "Serve/ProgramOrder.h"
#include "Serve/TemporaryFile.h"

namespace pipec {

/// The texts of an order that the compiler reads from files, as files, which
/// exist as long as this object.
class OrderFiles {
public:
  OrderFiles(const ProgramOrder &order, TemporaryFolder &folder);

  const OrderPaths &paths() const { return where; }
  const ShownNames &names() const { return shown; }

private:
  std::string add(TemporaryFile file, llvm::StringRef contents,
                  llvm::StringRef name);

  std::vector<TemporaryFile> files;
  ShownNames shown;
  OrderPaths where;
};

} // namespace pipec

#endif // PIPEC_SERVE_ORDERFILES_H
