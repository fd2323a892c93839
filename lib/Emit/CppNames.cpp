//===- CppNames.cpp - Names that a C++ source can have --------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/CppNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static constexpr StringLiteral keywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
    "char char16_t char32_t char8_t class co_await co_return co_yield compl "
    "concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw "
    "true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq";

/// What the headers of C and POSIX declare or define under a plain word. Other
/// names of theirs nobody gives to a schedule.
static constexpr StringLiteral libraryWords =
    "abort abs accept access alarm bind ceil clock clone close connect cos "
    "daemon daylight div environ errno error exit exp floor fork free gamma "
    "index kill link linux listen log major minor nice pause pipe poll pow "
    "printf profil puts raise rand random read recv remove rename revoke "
    "rewind round select send setup signal sin sleep socket splice sqrt "
    "stderr stdin stdout sync system tan tee time times timezone trunc "
    "truncate umask unix unlink unshare usleep vfork wait write";

static constexpr StringLiteral otherWords = "main pipec std";

/// True for a name that means something already in a source that includes the
/// runtime, and with it the headers of C. Words of capitals are left to macros,
/// whose number has no end.
static bool isTaken(StringRef name) {
  if (none_of(name, isLower))
    return true;
  return any_of(ArrayRef({keywords, libraryWords, otherWords}),
                [&](StringRef words) {
                  SmallVector<StringRef> each;
                  words.split(each, ' ');
                  return is_contained(each, name);
                });
}

std::string cppNamespace(StringRef name) {
  std::string result;
  for (char c : name)
    result += isAlnum(c) ? c : '_';
  if (result.empty() || isDigit(result[0]))
    result = "s" + result;
  if (isTaken(result))
    result += '_';
  return result;
}

} // namespace pipec
