// The server as a process. The system chooses its port: one that is looked for before may be taken when it is wanted.
import { onTestFinished } from 'vitest'
import { type RunningCommand, startCommand } from './run-command.ts'

/** Settles when it listens; killed with the test. */
export async function startServe(
  args: string[],
  env: Record<string, string>,
): Promise<{ command: RunningCommand; url: string }> {
  const command = startCommand(['serve', '--port', '0', '--json', ...args], env)
  onTestFinished(async () => {
    command.kill('SIGKILL')
    await command.result
  })
  return { command, url: await urlOf(command) }
}

export const urlOf = (command: RunningCommand): Promise<string> => command.told(/"url":"(http[^"]+)"/)
