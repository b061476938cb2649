// The process of the command: arguments in, exit code out. Everything else is in program.ts.
import { createProgram } from './program.ts'
import { exitCodeOf, reportError } from './report-error.ts'

// A reader that left (`unstuck … | head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

const isJson = process.argv.includes('--json')
try {
  await createProgram({ isJson }).parseAsync(process.argv)
} catch (error) {
  reportError(error, isJson)
  process.exitCode = exitCodeOf(error)
}
