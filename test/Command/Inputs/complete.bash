# Calls the completion function of bash as bash does: with the line, the cursor
# (the end, or the mark |) and the words, split at blanks and at `=`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
eval "$(pipec completion bash)"

complete_line() {
  COMP_LINE=${1/|/}
  local before=${1%%|*} word
  COMP_POINT=${#before} COMP_WORDS=() COMP_CWORD=-1 COMPREPLY=(old)
  local rest=$COMP_LINE at=0
  while [[ $rest ]]; do
    if [[ $rest =~ ^[[:blank:]]+ ]]; then
      rest=${rest:${#BASH_REMATCH}} at=$((at + ${#BASH_REMATCH}))
      [[ $rest ]] && continue
      word=
    elif [[ $rest == \'* ]]; then
      word=${rest:1} word=\'${word%%\'*}
      [[ ${rest:${#word}:1} == \' ]] && word+=\'
    elif [[ $COMP_WORDBREAKS == *=* && $rest == =* ]]; then
      word==
    else
      word=${rest%%[[:blank:]]*}
      [[ $COMP_WORDBREAKS == *=* ]] && word=${word%%=*}
    fi
    ((at < COMP_POINT || COMP_CWORD < 0)) && COMP_CWORD=${#COMP_WORDS[@]}
    COMP_WORDS+=("$word")
    rest=${rest:${#word}} at=$((at + ${#word}))
    [[ -z $word ]] && break
  done
  _pipec pipec
}

for line in "pipec lin" "pipec zb1p --emit=cs" "pipec zb1p --emit=" "pipec zb1p --emit cs" \
    "pipec zb1p --cost 'F=1,p2" "pipec zb1p --cost=F=1,p2" "pipec zb1p --cost 'F=1' -Drank" \
    "pipec zb1p --cost-profile=my" "pipec zb1p -omy" "pipec zb1p --em|=csv" "pipec  zb1p   mic" \
    "pipec zb1p --ranks="; do
  complete_line "$line"
  echo "[$line] ${COMPREPLY[*]}"
done
COMP_WORDBREAKS=${COMP_WORDBREAKS//=/}
complete_line "pipec zb1p --emit=cs"
echo "without = between words: ${COMPREPLY[*]}"
PATH=/nowhere
complete_line "pipec lin"
echo "without pipec: ${#COMPREPLY[@]}"
