// One run: start everything, inject the faults of the schedule while jobs are enqueued, heal, drain, read, judge.
import { setTimeout as sleep } from 'node:timers/promises'
import { Disturbances } from '../faults/disturbances.mjs'
import { inject } from '../faults/faults.mjs'
import { countByKind, makeSteps } from '../faults/schedule.mjs'
import { SmallDisk } from '../faults/small-disk.mjs'
import { checkHistory } from '../judge/check-history.mjs'
import { readHistory } from '../judge/read-history.mjs'
import { summarise } from '../judge/summary.mjs'
import { TableSampler } from '../judge/table-sampler.mjs'
import { withFolder } from '../processes/clean-ups.mjs'
import { ChaosDatabase, tableOf } from '../processes/database.mjs'
import { Pooler } from '../processes/pooler.mjs'
import { processesOf, serverPid } from '../processes/processor-waits.mjs'
import { createRoles } from '../processes/roles.mjs'
import { startScene, stopScene } from '../processes/scene.mjs'
import { StallMeter } from '../processes/stall-meter.mjs'
import { WORKERS } from '../settings.mjs'
import { JobFeeder } from '../workload/job-feeder.mjs'
import { makeWorkload } from '../workload/workload.mjs'

/** @import { CleanUps } from '../processes/clean-ups.mjs' */
/** @import { Scene } from '../faults/faults.mjs' */
/** @import { LedgerLine } from '../judge/history.mjs' */
/** @import { Fault } from '../faults/schedule.mjs' */
/** @import { ChaosProfile } from '../settings.mjs' */
/** @import { WorkloadName } from '../workload/workload.mjs' */
/**
 * @typedef {object} ChaosOptions
 * @property {number} seed
 * @property {number} durationMs of the faults
 * @property {ChaosProfile} profile
 * @property {WorkloadName} workload
 * @property {'random' | 'outages' | 'locks' | 'failover' | 'deploy'} scenario
 * @property {boolean} [isPooled] PgBouncer between the workers and the server
 * @property {boolean} [isKept] leave the ledgers and the data where they are
 * @property {AbortSignal} [signal]
 * @property {(line: string) => void} say
 */

/** @param {ChaosOptions} options */
export function runChaos(options) {
  return withFolder(options, (folder, cleanUps) => new Run(options, folder, cleanUps).run())
}

class Run {
  #options
  #folder
  #cleanUps
  #disturbances = new Disturbances()
  #stalls = new StallMeter()
  /** @type {{ kind: string }[]} */
  #injected = []

  /**
   * @param {ChaosOptions} options
   * @param {string} folder
   * @param {CleanUps} cleanUps
   */
  constructor(options, folder, cleanUps) {
    this.#options = options
    this.#folder = folder
    this.#cleanUps = cleanUps
    cleanUps.add(() => this.#stalls.stop())
  }

  async run() {
    const { seed, durationMs, profile, workload, scenario, say } = this.#options
    const startedAt = performance.now()
    const database = await ChaosDatabase.start(this.#folder)
    /** @type {SmallDisk | null} */
    let disk = null
    // After the server has left it.
    this.#cleanUps.add(() => disk?.unmount())
    this.#cleanUps.add(() => database.close())
    if (scenario === 'random') disk = await SmallDisk.mount(this.#folder, database)
    await database.install(profile)
    const scene = { ...(await this.#startScene(database)), disk }
    const feeder = await JobFeeder.open(database, profile)
    this.#cleanUps.add(() => feeder.close())
    const sampler = this.#startSampler(database)
    say(`PostgreSQL ${database.version}, ${WORKERS} workers, 2 reapers; faults for ${durationMs / 1000} s`)

    const feeding = feeder.feed(makeWorkload({ seed, durationMs, workload }))
    await this.#injectAll(scene, /** @type {Fault[]} */ (makeSteps({ scenario, seed, durationMs })))
    feeder.stopFeeding()
    await feeding
    const drainMs = await this.#healAndDrain(scene, feeder)
    sampler.stop()
    await stopScene(scene)
    this.#stalls.stop()

    const table = tableOf(this.#options.profile)
    const [disturbances, stalls] = [this.#disturbances, this.#stalls]
    const history = await readHistory({ database, table, scene, feeder, sampler, disturbances, stalls })
    const judgement = checkHistory(history)
    const faults = this.#countFaults(history)
    const summary = {
      scenario,
      seed,
      profile,
      workload,
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

  /** @param {ChaosDatabase} database */
  async #startScene(database) {
    const pooler = this.#options.isPooled === true ? await Pooler.start(this.#folder, database.url) : null
    this.#cleanUps.addKill(() => pooler?.close())
    const { profile, scenario } = this.#options
    // Behind a pooler all are one user.
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

  /** @param {ChaosDatabase} database */
  #startSampler(database) {
    const sampler = new TableSampler(tableOf(this.#options.profile))
    this.#cleanUps.add(() => sampler.stop())
    void sampler.run(database)
    void this.#stalls.watchQueries(
      database,
      () => !this.#disturbances.list.some(({ who, to }) => who === '*' && to > Date.now() - 1_000),
    )
    return sampler
  }

  /** @param {{ ledger: LedgerLine[] }} history */
  #countFaults({ ledger }) {
    const selfKills = ledger.filter(({ kind }) => kind === 'self-kill')
    return countByKind([...this.#injected, ...selfKills.map(() => ({ kind: 'directed:kill' }))])
  }

  /**
   * @param {Scene} scene
   * @param {Fault[]} schedule
   */
  async #injectAll(scene, schedule) {
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

  /**
   * @param {Scene} scene
   * @param {JobFeeder} feeder
   */
  #healAndDrain(scene, feeder) {
    for (const slot of [...scene.workers, scene.reaper]) {
      slot.signal('SIGCONT')
      slot.proxy.heal()
    }
    return feeder.drain(this.#options.signal)
  }
}
