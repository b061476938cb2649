// Generates docs/reference/cli.md from the command objects; test/repository/parity compares.
import type { Argument, Command, Option } from 'commander'
import { withConnection } from '../connection/with-connection.ts'
import { createProgram } from '../program.ts'
import { afterHelp, exampleOf, leafCommands, optionsOf, pathOf } from './command-tree.ts'

export async function renderCliReference(): Promise<string> {
  const program = await createProgram()
  const shared = withConnection(program.createCommand('shared')).options
  const isShared = (option: Option) =>
    shared.some(({ flags, description }) => flags === option.flags && description === option.description)
  const commands = leafCommands(program)
  return `${[
    intro,
    table(
      ['Command', 'Description'],
      commands.map((command) => [`[\`${pathOf(command)}\`](#${anchorOf(command)})`, command.description()]),
    ),
    '## Connection options',
    table(['Option', 'Description'], shared.map(optionRow)),
    '## Details',
    ...commands.flatMap((command) => section(command, isShared)),
  ].join('\n\n')}\n`
}

const intro = `<!-- Generated from src/cli by \`npm run docs:generate\`. Change the commands there. -->
# Command line

\`unstuck --help\` lists the commands, \`unstuck <command> --help\` shows one of them, \`unstuck --version\` prints the version.
\`unstuck completion bash\`, \`zsh\` or \`fish\` prints a script that completes commands, options and their choices.

- Stdout is data; warnings, questions and progress go to stderr. \`--json\` prints one JSON object and nothing else; a
  continuous command or an export prints one per line. An error is then one JSON object on stderr.
- A flag overrides the environment, which overrides the config file: \`unstuck config\` prints every setting with its source.
- Without a terminal the command does not ask: it exits with 2 unless \`--yes\` is given. Progress is shown on a terminal only.
- \`NO_COLOR\`, \`FORCE_COLOR\` and \`TERM=dumb\` are honoured; without a terminal there is no colour. Colour is never the only signal.
- Control characters and bidirectional overrides in types, owners, worker ids and errors are printed escaped (\`\\n\`, \`\\x1b\`,
  \`\\u202e\`): no job can control the terminal. In JSON they are \`\\u…\` escapes of the same value; CSV exports keep them unchanged.

| Exit code | Meaning                                                         |
| --------- | --------------------------------------------------------------- |
| 0         | success                                                         |
| 1         | a problem was found: stuck jobs, a difference, a failed drill   |
| 2         | wrong usage or configuration                                    |
| 3         | database unreachable                                            |
| 4         | refused: missing permission, wrong mode or wrong state          |
| 130       | interrupted                                                     |

## Commands`

function section(command: Command, isShared: (option: Option) => boolean): string[] {
  const options = optionsOf(command).filter(({ long }) => long !== '--help')
  const own = options.filter((option) => !isShared(option))
  const hasShared = own.length < options.length
  const takes = [...command.registeredArguments.map(argumentRow), ...own.map(optionRow)]
  const shared = hasShared ? ['Plus the [connection options](#connection-options).'] : []
  return [
    `### ${pathOf(command)}`,
    sentence(command.description()),
    `\`\`\`text\n$ ${exampleOf(command) ?? pathOf(command)}\n\`\`\``,
    ...(takes.length === 0 ? [] : [table(['Argument', 'Description'], takes)]),
    ...shared,
    exitLine(command),
  ]
}

function argumentRow(argument: Argument): string[] {
  const { required, variadic, description, argChoices } = argument
  const name = `${argument.name()}${variadic ? '...' : ''}`
  return [required ? `\`<${name}>\`` : `\`[${name}]\``, `${description}${choicesText(argChoices)}`]
}

function optionRow(option: Option): string[] {
  const { flags, description, argChoices, defaultValueDescription, mandatory } = option
  const defaultValue: unknown = option.defaultValue
  const isShown = typeof defaultValue === 'string' || typeof defaultValue === 'number'
  const shown = defaultValueDescription ?? (isShown ? String(defaultValue) : undefined)
  const notes = [mandatory ? 'required' : undefined, shown === undefined ? undefined : `default: ${shown}`]
  const shownNotes = notes.filter((note) => note !== undefined).join('; ')
  return [
    `\`${flags}\``,
    `${description}${choicesText(argChoices)}${shownNotes === '' ? '' : ` (${shownNotes})`}`,
  ]
}

const choicesText = (choices: readonly string[] | undefined) =>
  choices === undefined ? '' : ` (${choices.join(', ')})`

function exitLine(command: Command): string {
  const notes = [...afterHelp(command).matchAll(/^ {2}(\d+) +(.*)$/gm)]
  return `Exit codes: ${notes.map(([, code, meaning]) => `${code} ${meaning}`).join(' · ')}.`
}

const anchorOf = (command: Command) => pathOf(command).replaceAll(' ', '-')

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** A Markdown table with aligned columns. */
function table(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [first = [], ...others] = cells
  return [
    line(first),
    `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`,
    ...others.map(line),
  ].join('\n')
}
