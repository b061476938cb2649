// Runs a command in this process: same arguments, environment, output and exit code, without half a second of start-up. Tests
// of signals, pipes and start-up use run-command.ts.
import { runCli } from '../../../src/cli/run-cli.ts'
import type { CommandResult } from './run-command.ts'

let previous: Promise<unknown> = Promise.resolve()

/** One at a time: output, environment and exit code belong to the process. */
export function runInProcess(
  args: string[],
  env: Record<string, string> = {},
  cwd: string = process.cwd(),
): Promise<CommandResult> {
  const result = previous.then(() => run(args, env, cwd))
  previous = result.catch(() => {})
  return result
}

async function run(args: string[], env: Record<string, string>, cwd: string): Promise<CommandResult> {
  const { env: envBefore, exitCode: exitCodeBefore } = process
  const cwdBefore = process.cwd()
  const stdout = capture(process.stdout)
  const stderr = capture(process.stderr)
  process.env = { PATH: envBefore['PATH'] ?? '', HOME: envBefore['HOME'] ?? '', ...env }
  process.exitCode = undefined
  process.chdir(cwd)
  try {
    await runCli(args)
    return { exitCode: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    process.chdir(cwdBefore)
    process.exitCode = exitCodeBefore
    process.env = envBefore
    stdout.restore()
    stderr.restore()
  }
}

function capture(stream: NodeJS.WriteStream): { text: () => string; restore: () => void } {
  const write = stream.write.bind(stream)
  let text = ''
  stream.write = (chunk: string | Uint8Array) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
    return true
  }
  return {
    text: () => text,
    restore() {
      stream.write = write
    },
  }
}
