import type { Place } from "./places.ts";
import { quoted, shellTables } from "./shell-tables.ts";

/** The completion script for zsh: to be read by \`source\`, or put as \`_al\` into a folder of \`$fpath\`. */
export function zshCompletion(places: readonly Place[]): string {
  const tables = shellTables(places, (items) => {
    const described = items.map(({ word, description }) =>
      quoted(`${word.replaceAll(":", "\\:")}:${description}`),
    );
    return `reply=(${described.join(" ")})`;
  });
  return `#compdef al\n# zsh completion for al. For this shell: source <(al completion zsh)\n\n${tables}\n\n${walker}`;
}

/** Goes along the words before the cursor to see where it stands; zsh leaves `--flag=value` in one piece. */
const walker = String.raw`__al_propose() {
  local name
  local -a names
  case $1 in
    @agents)
      for name in "$2"/agents/*/config.toml(N:h:t); do
        [[ $name =~ '^[a-z0-9][a-z0-9-]*$' ]] && names+=($name)
      done
      compadd -- $names
      ;;
    @directories) _files -/ ;;
    @files) _files ;;
    '= '*) compadd -- ${"$"}{=1#= } ;;
  esac
}

_al() {
  local REPLY='' here=al project=. flag='' ended='' word
  local -a reply own
  local -i count=0 index
  for ((index = 2; index < CURRENT; index++)); do
    word=${"$"}{(Q)words[index]}
    [[ $word == --project=* ]] && flag=--project word=${"$"}{word#*=}
    if [[ -n $flag ]]; then
      [[ $word == '~'* ]] && word=$HOME${"$"}{word#'~'}
      [[ $flag == (-p|--project) ]] && project=$word
      flag=''
    elif [[ -n $ended ]]; then
      count+=1
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      __al_value $here $word && flag=$word
    elif ((count == 0)) && __al_commands $here && ((${"$"}{reply[(I)${"$"}{(b)word}:*]})); then
      here="$here $word"
    else
      count+=1
    fi
  done
  if [[ -z $flag$ended && $PREFIX == --*=* ]]; then
    flag=${"$"}{PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    __al_value $here $flag && __al_propose $REPLY $project
  elif [[ -z $ended && $PREFIX == -* ]]; then
    __al_flags $here && own=($reply)
    [[ $here != al ]] && __al_flags al && own+=($reply)
    _describe -o option own
  elif [[ -z $ended ]] && ((count == 0)) && __al_commands $here; then
    _describe -t commands command reply
  else
    __al_position $here $count && __al_propose $REPLY $project
  fi
}

if [[ ${"$"}{funcstack[1]} == _al ]]; then
  _al "$@"
else
  compdef _al al
fi
`;
