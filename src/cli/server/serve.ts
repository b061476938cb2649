import { type Command, InvalidArgumentError } from 'commander'
import { openDeployment } from '../../compose/index.ts'
import { exitCodes } from '../../errors/index.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { endSignal } from '../terminal/end-signal.ts'
import { printJson, printLine } from '../terminal/output.ts'

interface ServeFlags extends ConnectionFlags {
  host?: string
  port?: number
  readOnly?: boolean
  readUrl?: string
}

export function defineServe(command: Command): void {
  withConnection(command)
    .option('--host <address>', 'address to listen on (UNSTUCK_HTTP_HOST; default: 127.0.0.1)')
    .option('--port <number>', 'port; 0 picks a free one (UNSTUCK_HTTP_PORT; default: 4700)', readPort)
    .option('--read-url <url>', 'standby to read from (UNSTUCK_READ_URL; default: the database of the jobs)')
    .option('--read-only', 'refuse all writes (UNSTUCK_READ_ONLY)')
    .addHelpText('after', example('unstuck serve --port 4700'))
    .action(serveCommand)
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text)
  throw new InvalidArgumentError('Must be a whole number from 0 to 65535.')
}

async function serveCommand(flags: ServeFlags): Promise<void> {
  const config = loadCommandConfig(flags, { readUrl: flags.readUrl })
  const { host = config.http.host, port = config.http.port } = flags
  const isReadOnly = flags.readOnly ?? config.http.readOnly === '1'
  // Loaded on demand: other commands start without it.
  const { serve } = await import('../../http/serve.ts')
  const deployment = openDeployment(config)
  try {
    const server = await serve({ config, deployment, host, port, isReadOnly })
    // Before the first line: a reader may send the signal at once.
    const ended = endSignal()
    if (flags.json === true)
      printJson({ event: 'listening', url: server.url, isReadOnly, isOpen: server.isOpen })
    else {
      const who = server.isOpen ? 'local access only' : 'token required'
      printLine(
        `${server.url} · ${who}${isReadOnly ? ', read-only' : ''} · ${server.url}/docs · Ctrl-C to stop`,
      )
    }
    const signal = await ended
    await server.close()
    if (signal === 'SIGINT') process.exitCode = exitCodes.interrupted
  } finally {
    await deployment.close()
  }
}
