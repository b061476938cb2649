// One run: start, enqueue jobs while injecting the scheduled faults, heal, drain, read the history, judge.
import { setTimeout as sleep } from 'node:timers/promises'
import { Disturbances } from '../faults/disturbances.ts'
import { inject, type Scene } from '../faults/faults.ts'
import { countByKind, type Fault, makeSteps } from '../faults/schedule.ts'
import { SmallDisk } from '../faults/small-disk.ts'
import { checkHistory } from '../judge/check-history.ts'
import type { LedgerLine } from '../judge/history.ts'
import { readHistory } from '../judge/read-history.ts'
import { summarise } from '../judge/summary.ts'
import { TableSampler } from '../judge/table-sampler.ts'
import { type CleanUps, withFolder } from '../processes/clean-ups.ts'
import { ChaosDatabase, tableOf } from '../processes/database.ts'
import { Pooler } from '../processes/pooler.ts'
import { processesOf, serverPid } from '../processes/processor-waits.ts'
import { createRoles } from '../processes/roles.ts'
import { startScene, stopScene } from '../processes/scene.ts'
import { StallMeter } from '../processes/stall-meter.ts'
import {
  type ChaosProfile,
  leaseOf,
  type PresenceSetting,
  policyFor,
  type Scenario,
  WORKERS,
} from '../settings.ts'
import { JobFeeder } from '../workload/job-feeder.ts'
import { makeWorkload, type WorkloadName } from '../workload/workload.ts'

export interface ChaosOptions {
  seed: number
  /** Duration of the faults. */
  durationMs: number
  profile: ChaosProfile
  workload: WorkloadName
  scenario: Scenario
  /** Default: the profile's. */
  presence?: PresenceSetting | undefined
  /** Put PgBouncer between the workers and the server. */
  isPooled?: boolean
  /** Keep ledgers and data. */
  isKept?: boolean
  signal?: AbortSignal
  say: (line: string) => void
}

export function runChaos(options: ChaosOptions) {
  return withFolder(options, (folder, cleanUps) => new Run(options, folder, cleanUps).run())
}

class Run {
  #options
  #folder
  #cleanUps
  #disturbances = new Disturbances()
  #stalls = new StallMeter()
  #injected: { kind: string }[] = []

  constructor(options: ChaosOptions, folder: string, cleanUps: CleanUps) {
    this.#options = options
    this.#folder = folder
    this.#cleanUps = cleanUps
    cleanUps.add(() => this.#stalls.stop())
  }

  async run() {
    const { seed, durationMs, profile, workload, scenario, say } = this.#options
    const startedAt = performance.now()
    const database = await ChaosDatabase.start(this.#folder)
    let disk: SmallDisk | null = null
    // After the server has stopped.
    this.#cleanUps.add(() => disk?.unmount())
    this.#cleanUps.add(() => database.close())
    if (scenario === 'random') disk = await SmallDisk.mount(this.#folder, database)
    await database.install(profile, policyFor(profile, this.#options))
    const scene = { ...(await this.#startScene(database)), disk }
    const feeder = await JobFeeder.open(database, profile)
    this.#cleanUps.add(() => feeder.close())
    const sampler = this.#startSampler(database)
    say(`PostgreSQL ${database.version}, ${WORKERS} workers, 2 reapers; faults for ${durationMs / 1000} s`)

    const feeding = feeder.feed(makeWorkload({ seed, durationMs, workload }))
    await this.#injectAll(scene, makeSteps({ scenario, seed, durationMs }) as Fault[])
    feeder.stopFeeding()
    await feeding
    const drainMs = await this.#healAndDrain(scene, feeder)
    sampler.stop()
    await stopScene(scene)
    this.#stalls.stop()

    const table = tableOf(this.#options.profile)
    const [disturbances, stalls] = [this.#disturbances, this.#stalls]
    const leaseMs = leaseOf(scenario)
    const history = await readHistory({
      database,
      table,
      scene,
      feeder,
      sampler,
      disturbances,
      stalls,
      leaseMs,
    })
    const judgement = checkHistory(history)
    const faults = this.#countFaults(history)
    const summary = {
      scenario,
      seed,
      profile,
      workload,
      ...(this.#options.presence === undefined ? {} : { presence: this.#options.presence }),
      isPooled: scene.pooler !== null,
      postgres: database.version,
      node: process.version,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      drainMs,
      faults,
      faultCount: Object.values(faults).reduce((sum, count) => sum + count, 0),
      enqueued: feeder.enqueuedIds.length,
      unknownEnqueues: feeder.unknownEnqueues,
      ...summarise(history, judgement),
    }
    const { violations, unjudged } = judgement
    return { summary, violations, unjudged, history }
  }

  async #startScene(database: ChaosDatabase) {
    const pooler = this.#options.isPooled === true ? await Pooler.start(this.#folder, database.url) : null
    this.#cleanUps.addKill(() => pooler?.close())
    const { profile, scenario } = this.#options
    // A pooler connects all workers as one user.
    const roles = scenario === 'locks' && pooler === null ? await createRoles(database) : []
    const started = await startScene({
      databaseUrl: pooler?.urlOf(database.url) ?? database.url,
      roles,
      sqlReaperUrl: database.url,
      folder: this.#folder,
      profile,
      disturbances: this.#disturbances,
      cleanUps: this.#cleanUps,
      onDirected: (kind) => this.#injected.push({ kind }),
    })
    this.#stalls.watchProcessors(processesOf(started, () => serverPid(database.dataDir)))
    const { schema, table } = tableOf(profile)
    return { ...started, database, table: `${schema}.${table}`, pooler, disturbances: this.#disturbances }
  }

  #startSampler(database: ChaosDatabase) {
    const sampler = new TableSampler(tableOf(this.#options.profile))
    this.#cleanUps.add(() => sampler.stop())
    void sampler.run(database)
    void this.#stalls.watchQueries(
      database,
      () => !this.#disturbances.list.some(({ who, to }) => who === '*' && to > Date.now() - 1_000),
    )
    return sampler
  }

  #countFaults({ ledger }: { ledger: LedgerLine[] }) {
    const selfKills = ledger.filter(({ kind }) => kind === 'self-kill')
    return countByKind([...this.#injected, ...selfKills.map(() => ({ kind: 'directed:kill' }))])
  }

  async #injectAll(scene: Scene, schedule: Fault[]) {
    const from = performance.now()
    const under = []
    for (const fault of schedule) {
      await sleep(Math.max(0, fault.atMs - (performance.now() - from)))
      if (this.#options.signal?.aborted === true) throw new Error('interrupted')
      under.push(
        inject(scene, fault).then((isHit) => {
          if (isHit) this.#injected.push(fault)
        }),
      )
    }
    await Promise.all(under)
  }

  #healAndDrain(scene: Scene, feeder: JobFeeder) {
    for (const slot of [...scene.workers, scene.reaper]) {
      slot.signal('SIGCONT')
      slot.proxy.heal()
    }
    return feeder.drain(this.#options.signal)
  }
}
