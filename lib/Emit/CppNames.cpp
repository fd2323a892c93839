//===- CppNames.cpp - Names that a C++ source can have --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/CppNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

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

/// Plain words that the headers of C and POSIX declare or define, as far as a
/// schedule may have such a name.
static constexpr StringLiteral libraryWords =
    "abort abs accept access alarm atexit bind bsearch calloc ceil clock clone "
    "close connect cos creat daemon daylight div dup environ errno error exec "
    "exit exp fabs fcntl floor fma fmod fork free ftw gamma getc getenv getpid "
    "glob index ioctl j0 j1 jn kill labs linux link listen log longjmp lseek "
    "main major malloc memcpy minor mmap modf mount nice open pause pipe poll "
    "pow printf profil putc puts qsort raise rand random read realloc recv "
    "regex remove rename revoke rewind rint round scanf select send setjmp "
    "setup signal signgam sin sleep socket splice sqrt stat stderr stdin "
    "stdout swab symlink sync syscall syslog system tan tee time times "
    "timezone tm trunc truncate umask unix unlink unshare usleep utime vfork "
    "wait write y0 y1 yn";

static constexpr StringLiteral otherWords = "pipec std";

/// True for a name that is likely to mean something already in a source that
/// includes the runtime, and with it the headers of C. Names without a small
/// letter are left to macros, names in `_t` to types, and those with a `_` at
/// their beginning to the implementation.
static bool isTaken(StringRef name) {
  if (none_of(name, isLower) || name.ends_with("_t") || name.starts_with("_"))
    return true;
  return any_of(ArrayRef({keywords, libraryWords, otherWords}),
                [&](StringRef words) {
                  SmallVector<StringRef> each;
                  words.split(each, ' ');
                  return is_contained(each, name);
                });
}

/// `name` with other characters than letters, digits and `_` replaced by `_`.
static std::string identifierPart(StringRef name) {
  std::string result;
  for (char c : name)
    result += isAlnum(c) ? c : '_';
  return result;
}

std::string cppNamespace(StringRef name) {
  return "schedule_" + identifierPart(name);
}

std::string cppShortName(StringRef name) {
  std::string result = identifierPart(name);
  if (result.empty() || isDigit(result[0]))
    result = "s" + result;
  return isTaken(result) ? std::string() : result;
}

std::string cppGuard(StringRef name) {
  std::string result = "PIPEC_SCHEDULE_";
  for (char c : name) {
    if (isAlnum(c) || c == '_')
      result += c;
    else
      result += "_" + utohexstr(uint8_t(c), /*LowerCase=*/false, /*Width=*/2);
  }
  return result + "_H";
}

/// The size of the visible character that `text` begins with, in bytes; 0 when
/// it begins with anything else.
static size_t visibleSize(StringRef text) {
  const auto *begin = reinterpret_cast<const UTF8 *>(text.begin());
  const auto *end = reinterpret_cast<const UTF8 *>(text.end());
  const UTF8 *at = begin;
  UTF32 character = 0;
  if (convertUTF8Sequence(&at, end, &character, strictConversion) !=
          conversionOK ||
      !sys::unicode::isPrintable(int(character)))
    return 0;
  return size_t(at - begin);
}

std::string cppComment(StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t size = visibleSize(text);
    // In older dialects `??/` is another way to write a backslash.
    bool trigraph = text.front() == '?' && StringRef(result).ends_with("?");
    // The text after the name may begin with `:`.
    bool coding = (StringRef(":=").contains(text.front()) &&
                   StringRef(result).ends_with("coding")) ||
                  (text == "g" && StringRef(result).ends_with("codin"));
    if (size == 0 || text.front() == '\\' || trigraph || coding) {
      result += "\\" + utohexstr(uint8_t(text.front()), /*LowerCase=*/false, 2);
      size = 1;
    } else {
      result += text.take_front(size);
    }
    text = text.drop_front(size);
  }
  return result;
}

std::string cppLiteral(StringRef text) {
  std::string escaped;
  raw_string_ostream os(escaped);
  os.write_escaped(text, /*UseHexEscapes=*/false);
  std::string result = "\"";
  for (char c : escaped) {
    // Two of them may begin a trigraph.
    if (c == '?' && result.back() == '?')
      result += '\\';
    result += c;
  }
  return result + '"';
}

} // namespace pipec
