// A self-contained script per shell: completion starts no process.
import { type CompletionNode, valueGroups, type Word } from './completion-nodes.ts'

export const shellNames = ['bash', 'zsh', 'fish'] as const
export type ShellName = (typeof shellNames)[number]

export function completionScript(shell: ShellName, nodes: CompletionNode[]): string {
  return scripts[shell](nodes)
}

const scripts: Record<ShellName, (nodes: CompletionNode[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

const alternatives = (paths: string[]) => paths.map(quoted).join('|')

const pathsBelow = (nodes: CompletionNode[]) => nodes.slice(1).map(({ path }) => path)

const words = (list: Word[]) => list.map(({ word }) => word).join(' ')

function bashScript(nodes: CompletionNode[]): string {
  const values = valueGroups(nodes).map(({ at, value }) => {
    const reply = value === 'text' ? '' : `COMPREPLY=($(compgen ${bashChoice(value)} -- "$current")); `
    return `    ${alternatives(at)}) ${reply}return ;;`
  })
  const places = nodes.map(({ path, commands, options, choices, takesFile }) => {
    const files = takesFile ? ' files=yes' : ''
    const plain = [words(commands), ...choices].join(' ').trim()
    return `    ${quoted(path)}) options=${quoted(words(options))} plain=${quoted(plain)}${files} ;;`
  })
  return `# Completion of unstuck for bash. In ~/.bashrc:  source <(unstuck completion bash)
_unstuck() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local at=unstuck options= plain= files= index
  # --status=waiting comes as three words.
  if [[ $current == '=' ]]; then current=
  elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$at \${COMP_WORDS[index]}" in
      ${alternatives(pathsBelow(nodes))}) at="$at \${COMP_WORDS[index]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $previous" in
${values.join('\n')}
  esac
  case "$at" in
${places.join('\n')}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $files ]]; then COMPREPLY=($(compgen -f -- "$current"))
  else COMPREPLY=($(compgen -W "$plain" -- "$current"))
  fi
}
complete -o filenames -F _unstuck unstuck
`
}

const bashChoice = (value: 'file' | string[]) => (value === 'file' ? '-f' : `-W ${quoted(value.join(' '))}`)

function zshScript(nodes: CompletionNode[]): string {
  const values = valueGroups(nodes).map(({ at, value }) => {
    const reply = value === 'text' ? '' : value === 'file' ? '_files; ' : `compadd -- ${value.join(' ')}; `
    return `    (${alternatives(at)}) ${reply}return ;;`
  })
  const described = (list: Word[]) => list.map(({ word, about }) => quoted(`${word}:${about}`)).join(' ')
  const places = nodes.map(({ path, commands, options, choices, takesFile }) => {
    const plain = [described(commands), ...choices.map(quoted)].join(' ').trim()
    return `    (${quoted(path)})
      options=(${described(options)})
      plain=(${plain})${takesFile ? '\n      files=yes' : ''} ;;`
  })
  return `#compdef unstuck
# Completion of unstuck for zsh. In ~/.zshrc, after compinit:  source <(unstuck completion zsh)
_unstuck() {
  local at=unstuck previous="\${words[CURRENT-1]}" files= index
  local -a options plain
  for ((index = 2; index < CURRENT; index++)); do
    case "$at \${words[index]}" in
      (${alternatives(pathsBelow(nodes))}) at="$at \${words[index]}" ;;
    esac
  done
  case "$at $previous" in
${values.join('\n')}
  esac
  case "$at" in
${places.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options
  elif [[ -n $files ]]; then _files
  else _describe command plain
  fi
}
if [[ $funcstack[1] == _unstuck ]]; then _unstuck "$@"
else compdef _unstuck unstuck
fi
`
}

function fishScript(nodes: CompletionNode[]): string {
  const lines = nodes.flatMap(({ path, commands, options, choices, takesFile }) => {
    const here = `complete -c unstuck -n ${fishQuoted(`__unstuck_at '${path}'`)}`
    return [
      ...commands.map(({ word, about }) => `${here} -a ${word} -d ${fishQuoted(about)}`),
      ...options.map(({ word, about, value }) => {
        const takes =
          value === null
            ? ''
            : value === 'text'
              ? ' -x'
              : value === 'file'
                ? ' -r -F'
                : ` -x -a ${fishQuoted(value.join(' '))}`
        return `${here} -l ${word.slice(2)}${takes} -d ${fishQuoted(about)}`
      }),
      ...(choices.length === 0 ? [] : [`${here} -a ${fishQuoted(choices.join(' '))}`]),
      ...(takesFile ? [`${here} -F`] : []),
    ]
  })
  return `# Completion of unstuck for fish. In ~/.config/fish/config.fish:  unstuck completion fish | source
function __unstuck_at
  set -l at unstuck
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${pathsBelow(nodes).map(fishQuoted).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c unstuck -f
${lines.join('\n')}
`
}

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
