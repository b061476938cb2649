import { createProgram } from './program.ts'
import { exitCodeOf, reportError } from './report-error.ts'

/** Runs one command. Leaves its exit code in `process.exitCode`. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const isJson = argv.includes('--json')
  try {
    const program = await createProgram({ isJson, argv })
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    reportError(error, isJson)
    process.exitCode = exitCodeOf(error)
  }
}
