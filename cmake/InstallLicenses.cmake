# Installs the licence, and those of what programs contain, as Debian's packages have
# them: of CodeMirror, and of libraries that are linked statically. (The licence of
# Boost's headers asks for nothing where they are compiled.)
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pipec)
set(packages)
if(PIPEC_HAS_SERVER)
  list(APPEND packages libjs-codemirror)
endif()
if(PIPEC_STATIC)
  list(APPEND packages llvm-19-dev libantlr4-runtime-dev zlib1g-dev libstdc++6 libc6)
endif()
foreach(package ${packages})
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
      DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses COMPONENT pipec)
  endif()
endforeach()
