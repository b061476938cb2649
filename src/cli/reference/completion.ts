import { Argument, type Command } from 'commander'
import { example } from '../connection/with-connection.ts'
import { completionNodes } from './completion-nodes.ts'
import { completionScript, type ShellName, shellNames } from './completion-scripts.ts'

export function defineCompletion(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'shell').choices(shellNames))
    .addHelpText(
      'after',
      example('unstuck completion bash > ~/.local/share/bash-completion/completions/unstuck'),
    )
    .action((shell: ShellName) => {
      process.stdout.write(completionScript(shell, completionNodes(command.parent ?? command)))
    })
}
