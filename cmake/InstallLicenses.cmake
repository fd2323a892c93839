# Installs the licence, and in programs that are linked statically those of the
# libraries, as Debian's packages have them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pipec)
if(PIPEC_STATIC)
  foreach(package llvm-19-dev libantlr4-runtime-dev zlib1g-dev libstdc++6 libc6)
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses COMPONENT pipec)
    endif()
  endforeach()
endif()
