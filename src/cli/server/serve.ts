import { type Command, InvalidArgumentError } from 'commander'
import { openDeployment } from '../../compose.ts'
import { exitCodes } from '../../errors/index.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { endSignal } from '../terminal/end-signal.ts'
import { printJson, printLine } from '../terminal/output.ts'

interface ServeFlags extends ConnectionFlags {
  host?: string
  port?: number
  readOnly?: boolean
}

export function addServe(program: Command): void {
  withConnection(program.command('serve'))
    .description('offers the HTTP API and the dashboard until SIGTERM; without tokens on this machine only')
    .option('--host <address>', 'where to listen (UNSTUCK_HTTP_HOST; 127.0.0.1)')
    .option('--port <number>', 'the port (UNSTUCK_HTTP_PORT; 4700); 0 takes a free one', readPort)
    .option('--read-only', 'refuse everything that changes something (UNSTUCK_READ_ONLY)')
    .addHelpText('after', example('unstuck serve --port 4700'))
    .action(serveCommand)
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text)
  throw new InvalidArgumentError('It takes a whole number from 0 to 65535.')
}

async function serveCommand(flags: ServeFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const { host = config.http.host, port = config.http.port } = flags
  const isReadOnly = flags.readOnly ?? config.http.readOnly === '1'
  // Loaded here: no other command pays for it.
  const { serve } = await import('../../http/serve.ts')
  const deployment = openDeployment(config)
  try {
    const server = await serve({ config, deployment, host, port, isReadOnly })
    // Before the first line: whoever reads it may send the signal at once.
    const ended = endSignal()
    if (flags.json === true)
      printJson({ event: 'listening', url: server.url, isReadOnly, isOpen: server.isOpen })
    else {
      const who = server.isOpen ? 'whoever is on this machine' : 'holders of a token'
      printLine(
        `${server.url} for ${who}${isReadOnly ? ', read-only' : ''}; ${server.url}/docs; Ctrl-C ends it`,
      )
    }
    const signal = await ended
    await server.close()
    if (signal === 'SIGINT') process.exitCode = exitCodes.interrupted
  } finally {
    await deployment.close()
  }
}
