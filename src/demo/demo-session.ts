// Everything that runs during a demo: a database, both tables, the processes of both sides, a gateway and the watch. Acts
// change it, the screen draws it, and the receipt sums it up.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createInstaller,
  type Deployment,
  type DevelopmentDatabase,
  openDeployment,
  openDevelopmentDatabase,
} from '../compose/index.ts'
import { type Config, loadConfig } from '../config/index.ts'
import { isUnstuckError, UnstuckError } from '../errors/index.ts'
import { demoPolicy, type Fault, type FromProcess, promisedMs } from './demo-settings.ts'
import { createRandom, Feed, type Random } from './feed.ts'
import { DemoProcess } from './processes/demo-process.ts'
import { type GatewayServer, startGatewayServer } from './processes/gateway-server.ts'
import { type HandRolledTable, openHandRolledTable } from './processes/hand-rolled-table.ts'
import { JobWatch, type WatchedJob } from './receipt/job-watch.ts'
import { readLedger } from './receipt/ledger.ts'
import { makeReceipt, type Receipt } from './receipt/receipt.ts'
import { type Outage, type Rescue, rescueMs, rescuesOf } from './receipt/rescue.ts'

export interface SessionOptions {
  databaseUrl: string | undefined
  seed: number
  fault: Fault | null
  signal: AbortSignal
  say: (line: string) => void
}

export interface LateWrite {
  jobId: string
  fence: number
  outcome: string
}

const WORKERS = ['w1', 'w2', 'w3'] as const

export class DemoSession {
  readonly config: Config
  readonly deployment: Deployment
  readonly databaseName: string
  readonly watch: JobWatch
  readonly feed: Feed
  readonly gateway: GatewayServer
  readonly random: Random
  readonly workers: DemoProcess[]
  readonly reaper: DemoProcess
  readonly handRolledWorkers: DemoProcess[]
  readonly outages: Outage[] = []
  readonly lateWrites: LateWrite[] = []
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  /** Attempts spent while the breaker held the queue. */
  breakerAttempts = 0
  workersKilled = 0
  readonly #options: SessionOptions
  readonly #startedMs = performance.now()
  readonly #closing: (() => Promise<unknown>)[]
  readonly #ledgerFile: string

  constructor(options: SessionOptions, parts: SessionParts) {
    const { config, database, handRolled, gateway, folder, closing } = parts
    const { signal, say, seed } = options
    this.#options = options
    this.#closing = closing
    this.config = config
    this.deployment = parts.deployment
    this.databaseName = database.description
    this.gateway = gateway
    this.say = say
    this.signal = signal
    this.#ledgerFile = join(folder, 'ledger.ndjson')
    this.random = createRandom(seed)
    const { store } = parts.deployment.tables[0]
    const { access } = parts.deployment
    const onRescue = (rescue: Rescue, job: WatchedJob) => this.#showRescue(rescue, job)
    this.watch = new JobWatch({ store, access, handRolled, signal, onRescue })
    this.feed = new Feed({ store, handRolled, ledgerFile: this.#ledgerFile, random: createRandom(seed + 1) })
    const place = (entry: 'worker-process' | 'reaper-process' | 'hand-rolled-process', name: string) =>
      this.#place(entry, name, database.url, folder)
    this.workers = WORKERS.map((name) => place('worker-process', name))
    this.handRolledWorkers = WORKERS.map((name) => place('hand-rolled-process', name))
    this.reaper = place('reaper-process', 'reaper')
  }

  /** Starts the workers and the jobs of both sides, and the watch. */
  start(onFailed: (error: unknown) => void): Promise<void> {
    const processes = this.processes()
    const starting = this.#start(processes, onFailed)
    // Processes first: then a pending start ends too.
    this.#closing.push(() => starting.catch(() => {}))
    this.#closing.push(() => Promise.all(processes.map((process) => process.end())))
    return starting
  }

  async #start(processes: DemoProcess[], onFailed: (error: unknown) => void): Promise<void> {
    await writeFile(this.#ledgerFile, '')
    const { store } = this.deployment.tables[0]
    await store.writePolicy(demoPolicy)
    await Promise.all(processes.map((process) => process.start()))
    if (this.signal.aborted) return
    const watching = this.watch.run().catch(onFailed)
    this.#closing.push(() => watching)
    this.feed.start(onFailed)
    this.#closing.push(() => this.feed.stop())
  }

  processes(): DemoProcess[] {
    return [...this.workers, ...this.handRolledWorkers, this.reaper]
  }

  /** Stops feeding, repairs everything, and returns whether all jobs that can finish did. */
  async settle(limitMs: number): Promise<boolean> {
    await this.feed.stop()
    this.gateway.isBroken = false
    for (const process of this.processes()) process.thaw()
    const living = () => new Set(this.handRolledWorkers.map(({ name, pid }) => `${name}:${pid}`))
    return this.watch.until(
      ({ jobs, handRolled }) =>
        jobs.every(({ status }) => status !== 'waiting' && status !== 'running') &&
        handRolled.every(
          ({ status, worker }) =>
            status !== 'waiting' && (status !== 'processing' || !living().has(worker ?? '')),
        ),
      limitMs,
    )
  }

  /** From the current rows, events and ledger. */
  async receipt(): Promise<Receipt> {
    const { store } = this.deployment.tables[0]
    const { jobs, handRolled } = this.watch.snapshot
    const rescues: Rescue[] = []
    for (const job of jobs) if (job.crashes > 0) rescues.push(...rescuesOf(await store.listEvents(job.id)))
    return makeReceipt({
      ledger: readLedger(this.#ledgerFile),
      jobs,
      rescues,
      outages: this.outages,
      lateWrites: this.lateWrites.map(({ outcome }) => outcome),
      handRolled,
      workersKilled: this.workersKilled,
      breakerAttempts: this.breakerAttempts,
      promisedMs,
      stallMs: this.watch.stallMs,
      seed: this.#options.seed,
      seconds: (performance.now() - this.#startedMs) / 1000,
    })
  }

  #place(
    entry: 'worker-process' | 'reaper-process' | 'hand-rolled-process',
    name: string,
    databaseUrl: string,
    folder: string,
  ): DemoProcess {
    const { fault } = this.#options
    return new DemoProcess({
      entry,
      folder,
      settings: {
        name,
        databaseUrl,
        schema: this.config.schema,
        gatewayUrl: this.gateway.url,
        ledgerFile: this.#ledgerFile,
        fault,
      },
      onMessage: (message) => this.#hear(message),
      onDeath: () => {
        if (entry === 'worker-process') this.workersKilled++
      },
    })
  }

  #hear(message: FromProcess): void {
    if (message.kind !== 'late-write') return
    const { jobId, fence, outcome } = message
    this.lateWrites.push({ jobId, fence, outcome })
    const job = this.watch.snapshot.jobs.find(({ id }) => id === jobId)
    this.say(`late write of job ${job?.n ?? '?'} refused: ${outcome}, fence ${fence} < ${job?.fence ?? '?'}`)
  }

  #showRescue(rescue: Rescue, { n }: WatchedJob): void {
    const afterMs = rescueMs(rescue, this.outages)
    const why = rescue.isGone ? 'its process had ended' : 'its lease had expired'
    const end = rescue.isDead ? '; dead-lettered: it killed too many' : ''
    const after = `${(afterMs / 1000).toFixed(1)} s after its last heartbeat`
    this.say(`job ${n} rescued ${after}: ${why}${end}`)
  }
}

export interface SessionParts {
  config: Config
  database: DevelopmentDatabase
  deployment: Deployment
  handRolled: HandRolledTable
  gateway: GatewayServer
  folder: string
  /** Run in reverse order at the end; one failure does not skip the others. */
  closing: (() => Promise<unknown>)[]
}

/** Opens everything before the processes. `closing` fills as things open: a failed start leaves nothing behind. */
export async function openSession(
  options: SessionOptions,
  closing: (() => Promise<unknown>)[],
): Promise<DemoSession> {
  // Ignores the environment and config files: nobody expects a demo on DATABASE_URL.
  const given = loadConfig({ env: {}, flags: { databaseUrl: options.databaseUrl } })
  const folder = await makeFolder()
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const database = await openDatabase(given)
  closing.push(() => database.stop())
  // Its own schema: the demo touches nothing else on the server, and two demos do not collide.
  const schema = `unstuck_demo_${randomBytes(4).toString('hex')}`
  const config: Config = { ...given, schema, databaseUrl: database.url, migrateUrl: database.url }
  const installer = createInstaller(config, database.url)
  // Fails here if the server is unreachable: then there is nothing to remove.
  await installer.status()
  closing.push(() => installer.down({ isPurge: true }))
  await installer.up()
  const deployment = openDeployment(config)
  closing.push(() => deployment.close())
  const handRolled = openHandRolledTable(database.url, schema)
  await handRolled.create()
  closing.push(async () => {
    await handRolled.drop()
    await handRolled.close()
  })
  const gateway = await startGatewayServer()
  closing.push(() => gateway.close())
  return new DemoSession(options, { config, database, deployment, handRolled, gateway, folder, closing })
}

async function makeFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'unstuck-demo-'))
  } catch (cause) {
    throw new UnstuckError('INVALID_CONFIG', `the demo cannot write to ${tmpdir()}`, {
      hint: 'Set TMPDIR to a writable folder.',
      cause,
    })
  }
}

async function openDatabase(config: Config): Promise<DevelopmentDatabase> {
  try {
    return await openDevelopmentDatabase(config)
  } catch (cause) {
    if (isUnstuckError(cause)) throw config.databaseUrl === null ? noEmbedded(cause) : cause
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw new UnstuckError('INVALID_CONFIG', `the embedded PostgreSQL does not start: ${reason}`, {
      hint: 'Fix that, or use your own server: unstuck demo --database-url postgres://…',
      cause,
    })
  }
}

/** The demo does not read DATABASE_URL, so the usual hint would mislead. */
function noEmbedded(cause: unknown): UnstuckError {
  return new UnstuckError('INVALID_CONFIG', 'no database: @unstuck/embedded is not installed', {
    hint: 'npm install --save-dev @unstuck/embedded, or: unstuck demo --database-url postgres://…',
    cause,
  })
}
