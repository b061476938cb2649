// The commands as one program, of which only the one that runs is loaded.
import { Command } from 'commander'
import { packageVersion } from '../http/package-version.ts'
import { commandGroups } from './reference/command-index.ts'
import {
  describeOption,
  exitNotesOf,
  exitText,
  leafCommands,
  pathOf,
  takeExitNote,
} from './reference/command-tree.ts'
import { printErrorText } from './terminal/output.ts'

interface ProgramOptions {
  /** `reportError` prints usage errors instead of commander. */
  isJson?: boolean
  /** Loads the command that these arguments name. Default: all commands. */
  argv?: readonly string[]
}

export async function createProgram({ isJson = false, argv }: ProgramOptions = {}): Promise<Command> {
  const program = new Command('unstuck')
    .description(
      'No job stays stuck in processing: leases, heartbeats and a reaper for PostgreSQL job tables.',
    )
    .version(packageVersion, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(unstuck --help lists the commands)')
    .exitOverride()
    .configureHelp({
      sortSubcommands: false,
      optionDescription: describeOption,
      // A command that is not loaded has no arguments to show.
      subcommandTerm: (command) => command.name(),
    })
    .configureOutput({ writeErr: isJson ? () => {} : printErrorText })

  const isUsed = usedBy(argv)
  for (const { title, commands } of commandGroups) {
    program.commandsGroup(title)
    for (const { name, description, load } of commands) {
      const command = program.command(name).description(description)
      if (isUsed(name)) (await load())(command)
    }
  }
  program.helpCommand('help [command]', 'shows the help of a command')
  completeHelp(program)
  return program
}

function usedBy(argv: readonly string[] | undefined): (name: string) => boolean {
  // A completion script knows every option.
  if (argv === undefined || argv[0] === 'completion') return () => true
  const used = argv[0] === 'help' ? argv[1] : argv[0]
  return (name) => name === used
}

/** Adds exit codes and the hint after an error to every help. */
function completeHelp(program: Command): void {
  for (const command of leafCommands(program)) {
    const note = takeExitNote(command)
    command
      .addHelpText('after', exitText(exitNotesOf(command, note)))
      .showHelpAfterError(`(${pathOf(command)} --help shows its options)`)
  }
}
