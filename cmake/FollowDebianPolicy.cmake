# Changes the tree of a Debian package to what Debian expects: a compressed manual
# page and changelog, one file of licences, completion where Debian's zsh looks for
# it. CPack runs this between the installation and the packing.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(doc ${usr}/share/doc/pipec)

file(GLOB licenses ${doc}/licenses/*)
file(READ ${doc}/LICENSE text)
# (Of Apache's licence every system has a copy.)
string(FIND "${text}" "---- LLVM Exceptions" exceptions)
string(SUBSTRING "${text}" ${exceptions} -1 text)
string(PREPEND text "pipec is distributed under the Apache License, version 2.0, which is in
/usr/share/common-licenses/Apache-2.0, with these exceptions:\n\n")
foreach(license ${licenses})
  get_filename_component(package ${license} NAME)
  file(READ ${license} more)
  string(APPEND text "\nThe programs contain code of Debian's package ${package}, which says:\n\n${more}")
endforeach()
file(WRITE ${doc}/copyright "${text}")
file(REMOVE_RECURSE ${doc}/LICENSE ${doc}/licenses)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog.Debian "pipec (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9n ${doc}/changelog.Debian ${usr}/share/man/man1/pipec.1
  COMMAND_ERROR_IS_FATAL ANY)

file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/share/zsh/site-functions/_pipec ${usr}/share/zsh/vendor-completions/_pipec)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)

file(MAKE_DIRECTORY ${usr}/share/lintian/overrides)
file(WRITE ${usr}/share/lintian/overrides/pipec
  "# One package for all releases of Debian and Ubuntu.
pipec: statically-linked-binary
pipec: embedded-library
# Not uploaded to Debian.
pipec: initial-upload-closes-no-bugs
# Tools for developers and for editors, with help texts.
pipec: no-manual-page
")
# The modes that Debian expects, whatever the umask.
execute_process(COMMAND chmod -R u=rwX,go=rX ${usr} COMMAND_ERROR_IS_FATAL ANY)
