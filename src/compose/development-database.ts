// The database of an application that configures none: an embedded PostgreSQL, for development.
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import type * as Embedded from '@unstuck/embedded'
import type { Config } from '../config/index.ts'
import { UnstuckError } from '../errors/index.ts'
import { createInstaller } from './installer.ts'
import { requireUrl } from './require-url.ts'

export interface DevelopmentDatabase {
  url: string
  /** For display. */
  description: string
  stop(): Promise<void>
}

/** The configured database, else an embedded PostgreSQL that is deleted at stop, for demos. */
export async function openDevelopmentDatabase(config: Config): Promise<DevelopmentDatabase> {
  if (config.databaseUrl !== null) {
    return { url: config.databaseUrl, description: 'the database of DATABASE_URL', stop: async () => {} }
  }
  const { startPostgres } = await importEmbedded()
  const server = await startPostgres({ persistent: false })
  return { url: server.url, description: `embedded PostgreSQL ${server.version}`, stop: () => server.stop() }
}

export interface Database {
  /** URL of the database. An embedded one is started and installed at the first call. */
  url(): Promise<string>
  /** Stops an embedded database when its last user in this process has closed it. */
  close(): Promise<void>
}

/**
 * The configured database. If none is configured, an embedded PostgreSQL whose data stays in `.unstuck`, but never in
 * production: jobs would be stored inside a container. `print` gets one line when it has started.
 */
export function openDatabase(config: Config, print: (line: string) => void = () => {}): Database {
  const { databaseUrl } = config
  if (databaseUrl !== null) return { url: async () => databaseUrl, close: async () => {} }
  if (process.env['NODE_ENV'] === 'production') requireUrl(databaseUrl)
  if (!isEmbeddedInstalled()) throw noEmbedded()
  let starting: Promise<string> | undefined
  return {
    url() {
      starting ??= useEmbedded(config, print).catch((error: unknown) => {
        starting = undefined
        throw error
      })
      return starting
    },
    async close() {
      const wasUsed = starting
      starting = undefined
      if (wasUsed !== undefined && (await wasUsed.catch(() => null)) !== null) await embedded.release()
    },
  }
}

async function useEmbedded(config: Config, print: (line: string) => void): Promise<string> {
  const server = await embedded.hold()
  try {
    await createInstaller(config, server.url).up()
  } catch (error) {
    await embedded.release()
    throw error
  }
  const folder = relative(process.cwd(), server.dataDir)
  print(
    `DATABASE_URL is not set: an embedded PostgreSQL ${server.version} in ${folder} is used, for development only`,
  )
  return server.url
}

/** One server per process: a data directory allows only one. */
const embedded = {
  starting: undefined as Promise<Embedded.PostgresServer> | undefined,
  holders: 0,

  async hold(): Promise<Embedded.PostgresServer> {
    this.holders++
    this.starting ??= startEmbedded()
    try {
      return await this.starting
    } catch (error) {
      this.starting = undefined
      this.holders--
      throw error
    }
  },

  async release(): Promise<void> {
    if (--this.holders > 0) return
    const stopping = this.starting
    this.starting = undefined
    await (await stopping)?.stop()
  },
}

async function startEmbedded(): Promise<Embedded.PostgresServer> {
  const { startPostgres } = await importEmbedded()
  return startPostgres().catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new UnstuckError('INVALID_CONFIG', `no database: DATABASE_URL is not set, and ${message}`, {
      hint: 'Set DATABASE_URL: several processes cannot each start the embedded PostgreSQL of one folder.',
      cause,
    })
  })
}

function isEmbeddedInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('@unstuck/embedded')
    return true
  } catch {
    return false
  }
}

async function importEmbedded(): Promise<Pick<typeof Embedded, 'startPostgres'>> {
  try {
    return await import('@unstuck/embedded')
  } catch (cause) {
    throw noEmbedded(cause)
  }
}

function noEmbedded(cause?: unknown): UnstuckError {
  return new UnstuckError(
    'INVALID_CONFIG',
    'no database: DATABASE_URL is not set and @unstuck/embedded is not installed',
    {
      hint: 'Set DATABASE_URL, or: npm install --save-dev @unstuck/embedded',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}
