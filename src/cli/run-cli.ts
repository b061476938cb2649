import { createProgram } from './program.ts'
import { exitCodeOf, reportError } from './report-error.ts'

/** Runs one command. Its exit code is in `process.exitCode` afterwards. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const isJson = argv.includes('--json')
  try {
    await createProgram({ isJson }).parseAsync([...argv], { from: 'user' })
  } catch (error) {
    reportError(error, isJson)
    process.exitCode = exitCodeOf(error)
  }
}
