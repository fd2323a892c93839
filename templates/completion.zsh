#compdef pipec
# Completion of pipec for zsh, as `pipec completion zsh` prints it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

_pipec() {
  local program=${(Q)words[1]} line word result=1
  local -a whole open files
  for line in "${(@f)$("${program/#\~/$HOME}" completion --candidates -- \
      "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == $'\t'* ]]; then
      files+=("${line#$'\t'}")
      continue
    fi
    word=${${line%%$'\t'*}//:/\\:}
    if [[ $word == *[=-] ]]; then
      open+=("$word:${line#*$'\t'}")
    else
      whole+=("$word:${line#*$'\t'}")
    fi
  done
  (( $#whole )) && _describe -V pipec whole && result=0
  (( $#open )) && _describe -V pipec open -S '' && result=0
  if (( $#files )); then
    compset -P "${(b)files[1]}"
    _files && result=0
  fi
  return result
}

# As a file of $fpath this is the body of the function; otherwise it was sourced.
if [[ $funcstack[1] == _pipec ]]; then
  _pipec "$@"
else
  compdef _pipec pipec
fi
