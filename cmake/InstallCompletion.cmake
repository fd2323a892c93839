# Installs the manual page, and the scripts for completion where the shells look
# for them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
install(FILES docs/pipec.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES templates/completion.bash RENAME pipec
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES templates/completion.zsh RENAME _pipec
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES templates/completion.fish RENAME pipec.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
