# Completion of pipec for bash, as `pipec completion bash` prints it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

_pipec() {
  local text=${COMP_LINE:0:COMP_POINT} words=() i word
  # Bash also splits words at = and :, where nothing separates them.
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $i == 0 || $text == [[:blank:]]* || ($i == "$COMP_CWORD" && -z $text) ]]; then
      words+=("")
      text=${text#"${text%%[![:blank:]]*}"}
    fi
    ((i == COMP_CWORD)) && word=$text
    words[${#words[@]} - 1]+=$word
    text=${text#"$word"}
  done

  # What precedes the last = or : is not part of COMPREPLY, except in quotes.
  local current=${words[${#words[@]} - 1]} breaks=${COMP_WORDBREAKS//[^=:]/} shown=
  [[ $breaks && $current == *["$breaks"]* && $current != [\'\"]* ]] &&
    shown=${current%"${current##*["$breaks"]}"}
  words=("${words[@]//[\'\"\\]/}")
  current=${words[${#words[@]} - 1]}

  local line file
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == $'\t'* ]]; then
      line=${line#$'\t'}
      while IFS= read -r file; do
        file=$line$file
        COMPREPLY+=("${file#"$shown"}")
      done < <(compgen -f -- "${current#"$line"}")
      compopt -o filenames 2>/dev/null
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$shown"}")
    fi
  done < <("${1/#\~/$HOME}" completion --candidates -- "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *[=-] ]] && compopt -o nospace 2>/dev/null
  return 0
}

complete -F _pipec pipec
