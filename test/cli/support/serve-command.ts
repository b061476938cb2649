// The server as a process, on a port chosen by the system: one found before may be taken by then.
import { onTestFinished } from 'vitest'
import { type RunningCommand, startCommand } from './run-command.ts'

/** Settles when it listens; killed after the test. */
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
