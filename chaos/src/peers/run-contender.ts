// One contender through one schedule: start, enqueue, inject, heal, wait, read, judge.
import { existsSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Disturbances } from '../faults/disturbances.ts'
import { countByKind } from '../faults/schedule.ts'
import { readLedgers } from '../judge/read-history.ts'
import { type CleanUps, withFolder } from '../processes/clean-ups.ts'
import { ChaosDatabase, queryRows, readSql } from '../processes/database.ts'
import { ProcessSlot } from '../processes/process-slot.ts'
import { StallMeter } from '../processes/stall-meter.ts'
import { type Contender, type ContenderId, loadContender } from './contender.ts'
import { produceJobs } from './job-producer.ts'
import { judgeWrites, type PeerLine, type Write } from './judge-writes.ts'
import { makeJobs } from './make-jobs.ts'
import { makeRounds } from './make-rounds.ts'
import { injectPeerFault, type PeerScene } from './peer-faults.ts'
import { SETTLE_MS, WORKERS } from './settings.ts'

export interface ContenderOptions {
  id: ContenderId
  seed: number
  /** Duration of the faults. */
  durationMs: number
  /** Keep ledgers and data. */
  isKept: boolean
  signal: AbortSignal
  say: (line: string) => void
}
export type ContenderSummary = Awaited<ReturnType<typeof runContender>>['summary']

const CONNECTIONS = { max_connections: '150' }
const LOOK_MS = 500
/** Counts that must be zero; the others are only reported. */
const PROMISES = [
  'finishedTwice',
  'staleWrites',
  'falseReaps',
  'fromBlocked',
  'dead',
  'stuck',
  'lost',
] as const

export function runContender(options: ContenderOptions) {
  return withFolder(options, (folder, cleanUps) => new ContenderRun(options, folder, cleanUps).run())
}

class ContenderRun {
  #options
  #folder
  #cleanUps
  #stalls = new StallMeter()
  #hasEnded = false

  constructor(options: ContenderOptions, folder: string, cleanUps: CleanUps) {
    this.#options = options
    this.#folder = folder
    this.#cleanUps = cleanUps
    cleanUps.add(() => {
      this.#hasEnded = true
      this.#stalls.stop()
    })
  }

  async run() {
    const { id, seed, durationMs, signal, say } = this.#options
    const contender = await loadContender(id)
    const version = await contender.version()
    const startedAt = performance.now()
    const database = await ChaosDatabase.start(this.#folder, CONNECTIONS)
    this.#cleanUps.add(() => database.close())
    await this.#install(contender, database)
    const scene = await this.#startScene(database)
    void this.#unlockExited(contender, scene)
    const producer = await contender.openProducer(database.url)
    this.#cleanUps.add(() => Promise.race([producer.close().catch(() => {}), sleep(5_000)]))
    say(`${contender.name} ${version}: faults for ${durationMs / 1_000} s`)

    const faults = makeRounds({ seed, durationMs })
    const producing = produceJobs({ producer, jobs: makeJobs({ seed, durationMs }), signal })
    await this.#injectAll(scene, faults)
    const acknowledged = await producing
    say(`${contender.name}: healed, waiting until nothing has finished for ${SETTLE_MS / 1_000} s`)
    const settled = await this.#settle(database, contender)
    this.#hasEnded = true
    const evidence = {
      writes: (await this.#query(database, 'peers/read_writes')) as Write[],
      ledger: this.#readLedger(),
      disturbances: scene.disturbances.list,
      kills: scene.kills,
      deploys: scene.deploys,
      acknowledged,
      unfinished: settled.unfinished,
    }
    await Promise.all(scene.workers.map((slot) => slot.leave()))
    this.#stalls.stop()
    const judgement = judgeWrites(evidence)
    const summary = {
      contender: id,
      name: contender.name,
      version,
      settings: contender.settings,
      seed,
      postgres: database.version,
      node: process.version,
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      settleLimitMs: SETTLE_MS,
      settledMs: settled.ms,
      faults: countByKind(faults),
      ...judgement,
      load: loadavg().map((load) => Math.round(load * 10) / 10),
      longestStallMs: this.#stalls.longestMs('timer'),
    }
    const violations = PROMISES.filter((promise) => id === 'unstuck' && judgement[promise] > 0)
    return { summary, violations, history: evidence }
  }

  async #install(contender: Contender, database: ChaosDatabase) {
    await contender.install(database.url)
    await this.#query(database, 'peers/writes')
    await this.#query(database, `peers/${contender.auditSql}`)
  }

  async #query(database: ChaosDatabase, name: string) {
    const sql = await readSql(name)
    return database.withClient((client) => queryRows(client, sql))
  }

  async #startScene(database: ChaosDatabase): Promise<PeerScene> {
    const disturbances = new Disturbances()
    const workers = Array.from({ length: WORKERS }, (_, index) => {
      const name = `w${index + 1}`
      const slot = new ProcessSlot({
        name,
        script: new URL('worker-process.js', import.meta.url),
        databaseUrls: [database.url],
        env: {
          PATH: process.env['PATH'],
          CHAOS_LEDGER: this.#ledgerOf(name),
          CHAOS_CONTENDER: this.#options.id,
        },
        disturbances,
        onDirected: () => {},
      })
      this.#cleanUps.addKill(() => slot.close())
      return slot
    })
    await Promise.all(workers.map((slot) => slot.start()))
    return { database, workers, disturbances, kills: [], deploys: [] }
  }

  #ledgerOf(name: string) {
    return join(this.#folder, `${name}.ledger`)
  }

  #readLedger() {
    const files = Array.from({ length: WORKERS }, (_, index) => this.#ledgerOf(`w${index + 1}`))
    const lines: unknown = readLedgers(files.filter((file) => existsSync(file)))
    return lines as PeerLine[]
  }

  /** The supervisor knows which processes are gone and may unlock their jobs. */
  async #unlockExited({ unlock }: Contender, { database, workers }: PeerScene) {
    const unlocked: Set<string> = new Set()
    if (unlock === undefined) return
    while (!this.#hasEnded) {
      await sleep(LOOK_MS)
      const gone = new Set(workers.flatMap(({ exits }) => exits.map(({ worker }) => worker)))
      const pools = this.#readLedger().flatMap(({ kind, worker, pool }) =>
        kind === 'pool' && pool !== undefined && gone.has(worker) && !unlocked.has(pool) ? [pool] : [],
      )
      if (pools.length === 0 || !database.isUp) continue
      try {
        await unlock(database.url, pools)
        for (const pool of pools) unlocked.add(pool)
      } catch {
        // The database is down: try at the next poll.
      }
    }
  }

  async #injectAll(scene: PeerScene, faults: ReturnType<typeof makeRounds>) {
    const { signal, say, durationMs } = this.#options
    const from = performance.now()
    const under = []
    for (const fault of faults) {
      await sleep(Math.max(0, fault.atMs - (performance.now() - from)), undefined, { signal })
      say(`  ${Math.round(fault.atMs / 1_000)} s ${fault.kind} ${fault.target}`)
      const injecting = injectPeerFault(scene, fault)
      // An interrupted run no longer awaits it.
      injecting.catch(() => {})
      under.push(injecting)
    }
    await Promise.all(under)
    await sleep(Math.max(0, durationMs - (performance.now() - from)), undefined, { signal })
  }

  /** Waits as long as the backlog shrinks: a slow machine does not make a job stuck. */
  async #settle(database: ChaosDatabase, { unfinishedSql }: Contender) {
    const from = performance.now()
    let least = Number.POSITIVE_INFINITY
    for (let progressAt = from; ; ) {
      this.#options.signal.throwIfAborted()
      const rows = await this.#query(database, `peers/${unfinishedSql}`)
      const unfinished = rows as { job: string; state: string }[]
      const now = performance.now()
      if (unfinished.length < least) progressAt = now
      least = Math.min(least, unfinished.length)
      if (least === 0 || now - progressAt >= SETTLE_MS) return { unfinished, ms: Math.round(now - from) }
      await sleep(LOOK_MS)
    }
  }
}
