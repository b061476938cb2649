// The process of the command: arguments in, exit code out. Everything else is in program.ts.
import { runCli } from './run-cli.ts'

// A closed stdout (`unstuck … | head`) ends the command with the exit code it has so far. Without stderr the work goes on.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (stream === process.stdout) process.exit()
  })
}

await runCli(process.argv.slice(2))
