// The PostgreSQL under test. Stops without a checkpoint and restarts on the same data and port.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '@unstuck/embedded'
import pg from 'pg'
import { createInstaller, loadConfig, nativeProfile, type TableProfile } from 'unstuck'
import { clipProfile, executorProfile } from 'unstuck/profiles'
import type { ChaosProfile } from '../settings.ts'

/** Durability stays on, unlike in the other tests. */
const SETTINGS = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', max_connections: '140' }
const TABLES = {
  native: null,
  clip: new URL('../../../examples/clip-pipeline/tables.sql', import.meta.url),
  executor: new URL('../../../examples/executor-sql/tables.sql', import.meta.url),
}

export function readSql(name: string) {
  return readFile(new URL(`../../sql/${name}.sql`, import.meta.url), 'utf8')
}

export function tableOf(profile: ChaosProfile): TableProfile {
  const { tables } = { native: nativeProfile('unstuck'), clip: clipProfile, executor: executorProfile }[
    profile
  ]
  return tables[0]
}

export class ChaosDatabase {
  #server
  #dataDir
  #settings
  isUp = true
  #isClosed = false
  #starting: Promise<PostgresServer> | undefined
  #watcher: Promise<pg.Client> | undefined
  #lastLook: Promise<unknown> = Promise.resolve()

  constructor(server: PostgresServer, dataDir: string, settings: Record<string, string>) {
    this.#server = server
    this.#dataDir = dataDir
    this.#settings = settings
  }

  static async start(folder: string, settings: Record<string, string> = {}) {
    const dataDir = join(folder, 'postgres')
    const all = { ...SETTINGS, ...settings }
    return new ChaosDatabase(await startPostgres({ dataDir, settings: all }), dataDir, all)
  }

  get url() {
    return this.#server.url
  }

  get port() {
    return this.#server.port
  }

  get version() {
    return this.#server.version
  }

  get dataDir() {
    return this.#server.dataDir
  }

  async stopAtOnce() {
    this.isUp = false
    await this.#server.stop({ mode: 'immediate' })
  }

  /** Shuts down cleanly, so that the files can be copied. */
  async stopInOrder() {
    this.isUp = false
    await this.#server.stop()
  }

  async startAgain() {
    if (this.#isClosed) return
    const { port } = this.#server
    this.#starting = startPostgres({ dataDir: this.#dataDir, port, settings: this.#settings })
    this.#server = await this.#starting
    this.isUp = true
  }

  /** Also stops a server that a fault is still restarting. */
  async close() {
    this.#isClosed = true
    this.isUp = false
    void this.#watcher?.then((client) => client.end()).catch(() => {})
    await this.#starting?.catch(() => {})
    await this.#server.stop({ mode: 'immediate' })
  }

  /** `shard` is its number, null for a single database. */
  async install(profile: ChaosProfile, policy: object, shard: number | null = null) {
    const tables = TABLES[profile]
    await this.withClient(async (client) => {
      if (tables !== null) await client.query(await readFile(tables, 'utf8'))
      await client.query(await readSql('tables'))
    })
    const config = loadConfig({ env: { DATABASE_URL: this.url, UNSTUCK_PROFILE: profile } })
    await createInstaller({ ...config, shard }).up()
    await this.withClient(async (client) => {
      const change = JSON.stringify(policy)
      await client.query(await readSql('write_policy'), [tableOf(profile).attachment, change])
    })
  }

  /** For many small queries: runs them one by one on a shared connection, which is reopened after an error. */
  look(sql: string, params: unknown[] = []): Promise<unknown[]> {
    const look = this.#lastLook.then(() => this.#look(sql, params))
    this.#lastLook = look.catch(() => {})
    return look
  }

  async #look(sql: string, params: unknown[]) {
    const watcher = (this.#watcher ??= connect(this.url))
    try {
      return await queryRows(await watcher, sql, params)
    } catch (error) {
      if (this.#watcher === watcher) this.#watcher = undefined
      void watcher.then((client) => client.end()).catch(() => {})
      throw error
    }
  }

  withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(this.url, work)
  }
}

/** A database at an address whose server may change. */
export class AddressedDatabase {
  readonly url: string
  isUp = true

  constructor(url: string) {
    this.url = url
  }

  withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(this.url, work)
  }
}

/** Rows are untyped: the caller knows its query. */
export async function queryRows(
  client: pg.ClientBase,
  sql: string,
  params: unknown[] = [],
): Promise<unknown[]> {
  const { rows } = (await client.query(sql, params)) as { rows: unknown[] }
  return rows
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(connectionString)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

async function connect(connectionString: string) {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  return client
}
