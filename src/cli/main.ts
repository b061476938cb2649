// The process of the command: arguments in, exit code out. Everything else is in program.ts.
import { runCli } from './run-cli.ts'

// A reader that left (`unstuck … | head`) is no error. Without one for the progress the work still goes on to its end.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (stream === process.stdout) process.exit(0)
  })
}

await runCli(process.argv.slice(2))
