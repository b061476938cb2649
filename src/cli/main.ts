// The process of the command: arguments in, exit code out. Everything else is in program.ts.
import { runCli } from './run-cli.ts'

// A reader that left (`unstuck … | head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

await runCli(process.argv.slice(2))
