// The nodes of a Citus cluster that have the tables of its schemas, for connections that go there directly. A schema may move while
// it is in use, so the coordinator is asked again and again (docs/adr/0047).
import { isOutage, UnstuckError } from '../../../errors/index.ts'
import { readQuery } from '../sql-queries.ts'
import { type QueryClient, toExecutor } from './executor.ts'
import { translated } from './postgres-errors.ts'

/** The address of a server that may be another one later. */
export interface MovingAddress {
  /** Asks for it at the first use. */
  find(): Promise<string>
  /** As of the last answer; the coordinator's before the first one. */
  known(): string
  /** Returns the function that ends the notices. */
  onMoved(listener: (url: string) => void): () => void
}

export type ServerAddress = string | MovingAddress

export const findAddress = async (server: ServerAddress): Promise<string> =>
  typeof server === 'string' ? server : server.find()

/** Nothing for a server that never moves. */
export const movesOf = (server: ServerAddress): MovingAddress['onMoved'] | undefined =>
  typeof server === 'string' ? undefined : (listener) => server.onMoved(listener)

export interface SchemaOwnersOptions {
  coordinatorUrl: string
  /** Connected to the coordinator. */
  client: QueryClient
  schemas: string[]
}

/** The former owner still answers, by asking the new one: calls that arrive there meanwhile only take longer. */
const LOOK_MS = 5_000

export class SchemaOwners {
  readonly #options: SchemaOwnersOptions
  readonly #urls = new Map<string, string>()
  /** Schemas for which the coordinator's address was given. */
  readonly #assumed = new Set<string>()
  readonly #listeners = new Map<string, Set<(url: string) => void>>()
  #first: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: SchemaOwnersOptions) {
    this.#options = options
  }

  addressOf(schema: string): MovingAddress {
    const listeners = this.#listeners.get(schema) ?? new Set()
    this.#listeners.set(schema, listeners)
    return {
      find: () => this.#find(schema),
      known: () => this.#known(schema),
      onMoved(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #known(schema: string): string {
    const url = this.#urls.get(schema)
    if (url === undefined) this.#assumed.add(schema)
    return url ?? this.#options.coordinatorUrl
  }

  async #find(schema: string): Promise<string> {
    this.#first ??= this.#lookFirst()
    await this.#first
    const url = this.#urls.get(schema)
    if (url === undefined) throw notDistributed(schema)
    return url
  }

  async #lookFirst(): Promise<void> {
    try {
      await this.#look()
      this.#lookLater()
    } catch (error) {
      this.#first = undefined
      throw isOutage(error) ? error : notDistributed(this.#options.schemas.join(', '), error)
    }
  }

  #lookLater(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      // Without an answer of the coordinator, the last one counts.
      void this.#look()
        .catch(() => {})
        .finally(() => this.#lookLater())
    }, LOOK_MS).unref()
  }

  async #look(): Promise<void> {
    const { client, schemas, coordinatorUrl } = this.#options
    const coordinator = toExecutor(client)
    const rows = await translated(() => coordinator.query(readQuery('schema_owners'), [schemas]))
    for (const row of rows) {
      const schema = String(row['schema'])
      const url = new URL(coordinatorUrl)
      url.hostname = String(row['host'])
      url.port = String(row['port'])
      const former = this.#urls.get(schema) ?? (this.#assumed.has(schema) ? coordinatorUrl : undefined)
      this.#urls.set(schema, url.href)
      if (former !== undefined && former !== url.href)
        for (const listener of this.#listeners.get(schema) ?? []) listener(url.href)
    }
  }
}

function notDistributed(schemas: string, cause?: unknown): UnstuckError {
  return new UnstuckError(
    'INVALID_CONFIG',
    `UNSTUCK_SHARD_DIRECT: Citus does not distribute ${schemas}, so no node owns it`,
    {
      hint: 'Distribute it: unstuck migrate up --distribute. Or connect to its address: UNSTUCK_SHARD_DIRECT=off.',
      cause,
    },
  )
}
