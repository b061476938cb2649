// One run: start, enqueue jobs while injecting the scheduled faults, heal, drain, read the history, judge.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Disturbances } from '../faults/disturbances.ts'
import { inject, type Scene } from '../faults/faults.ts'
import { countByKind, type Fault, makeSteps } from '../faults/schedule.ts'
import { SmallDisk } from '../faults/small-disk.ts'
import type { History, LedgerLine } from '../judge/history.ts'
import { judgeShards } from '../judge/judge-shards.ts'
import { readHistory, readRecords } from '../judge/read-history.ts'
import { partOf } from '../judge/shards.ts'
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
  /** Number of servers, each a shard. Default: 1, not sharded. */
  shards?: number
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
  #ledgers: string[] = []

  constructor(options: ChaosOptions, folder: string, cleanUps: CleanUps) {
    this.#options = options
    this.#folder = folder
    this.#cleanUps = cleanUps
    cleanUps.add(() => this.#stalls.stop())
  }

  async run() {
    const { seed, durationMs, workload, scenario, shards = 1, say } = this.#options
    const startedAt = performance.now()
    const { databases, disk } = await this.#startDatabases(shards)
    const [{ version }] = databases
    const scenes = await this.#startScenes(databases, disk)
    const [scene] = scenes
    const feeder = await JobFeeder.open(databases, this.#options.profile)
    this.#cleanUps.add(() => feeder.close())
    const samplers = databases.map((database, shard) => this.#startSampler(database, shard))
    say(
      `PostgreSQL ${version} × ${shards}, ${WORKERS} workers, ${1 + shards} reapers; faults for ${durationMs / 1000} s`,
    )

    const feeding = feeder.feed(makeWorkload({ seed, durationMs, workload }))
    await this.#injectAll(scenes, makeSteps({ scenario, seed, durationMs, shards }) as Fault[])
    feeder.stopFeeding()
    await feeding
    const drainMs = await this.#healAndDrain(scene, feeder)
    for (const sampler of samplers) sampler.stop()
    await stopScene({ ...scene, sqlReapers: scenes.map(({ sqlReaper }) => sqlReaper) })
    this.#stalls.stop()

    const judged = await this.#judge(databases, samplers, feeder)
    const faults = this.#countFaults(judged.history)
    const summary = {
      ...this.#describeRun(scene),
      postgres: version,
      node: process.version,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      drainMs,
      faults,
      faultCount: Object.values(faults).reduce((sum, count) => sum + count, 0),
      enqueued: feeder.enqueuedIds.length,
      unknownEnqueues: feeder.unknownEnqueues,
      ...judged.summary,
    }
    const { violations, unjudged, history } = judged
    return { summary, violations, unjudged, history }
  }

  #describeRun({ pooler }: Scene) {
    const { scenario, seed, profile, workload, presence, shards = 1 } = this.#options
    return {
      scenario,
      seed,
      profile,
      workload,
      ...(presence === undefined ? {} : { presence }),
      ...(shards === 1 ? {} : { shards }),
      isPooled: pooler !== null,
    }
  }

  async #startDatabases(shards: number) {
    const { profile, scenario } = this.#options
    const databases: ChaosDatabase[] = []
    let disk: SmallDisk | null = null
    // After the servers have stopped.
    this.#cleanUps.add(() => disk?.unmount())
    for (let shard = 0; shard < shards; shard++) {
      const folder = shard === 0 ? this.#folder : join(this.#folder, `shard-${shard}`)
      if (shard > 0) mkdirSync(folder)
      const database = await ChaosDatabase.start(folder)
      this.#cleanUps.add(() => database.close())
      if (scenario === 'random' && shard === 0) disk = await SmallDisk.mount(folder, database)
      await database.install(profile, policyFor(profile, this.#options), shards === 1 ? null : shard)
      databases.push(database)
    }
    return { databases: databases as [ChaosDatabase, ...ChaosDatabase[]], disk }
  }

  /** One for each shard, with the same processes. */
  async #startScenes(databases: [ChaosDatabase, ...ChaosDatabase[]], disk: SmallDisk | null) {
    const [first] = databases
    const pooler = this.#options.isPooled === true ? await Pooler.start(this.#folder, first.url) : null
    this.#cleanUps.addKill(() => pooler?.close())
    const { profile, scenario } = this.#options
    // A pooler connects all workers as one user.
    const roles = scenario === 'locks' && pooler === null ? await createRoles(first) : []
    const { sqlReapers, ...started } = await startScene({
      databaseUrls: databases.map(({ url }) => pooler?.urlOf(url) ?? url),
      roles,
      sqlReaperUrls: databases.map(({ url }) => url),
      folder: this.#folder,
      profile,
      disturbances: this.#disturbances,
      cleanUps: this.#cleanUps,
      onDirected: (kind) => this.#injected.push({ kind }),
    })
    this.#ledgers = started.ledgers
    const servers = databases.map(
      ({ dataDir }) =>
        () =>
          serverPid(dataDir),
    )
    this.#stalls.watchProcessors(processesOf(started, ...servers))
    const { schema, table } = tableOf(profile)
    const scenes = sqlReapers.map(
      (sqlReaper, shard): Scene => ({
        ...started,
        shard,
        sqlReaper,
        disk: shard === 0 ? disk : null,
        database: databases[shard] ?? first,
        table: `${schema}.${table}`,
        pooler,
        disturbances: databases.length === 1 ? this.#disturbances : this.#disturbances.ofShard(shard),
      }),
    )
    return scenes as [Scene, ...Scene[]]
  }

  #startSampler(database: ChaosDatabase, shard: number) {
    const sampler = new TableSampler(tableOf(this.#options.profile))
    this.#cleanUps.add(() => sampler.stop())
    void sampler.run(database)
    void this.#stalls.watchQueries(
      database,
      () =>
        !this.#disturbances.list.some(
          ({ who, to, shard: hit = shard }) => who === '*' && hit === shard && to > Date.now() - 1_000,
        ),
    )
    return sampler
  }

  async #judge(databases: ChaosDatabase[], samplers: TableSampler[], feeder: JobFeeder) {
    const table = tableOf(this.#options.profile)
    const recorded = readRecords({
      scene: { ledgers: this.#ledgers },
      feeder,
      disturbances: this.#disturbances,
      stalls: this.#stalls,
    })
    const histories: History[] = []
    for (const [shard, database] of databases.entries())
      histories.push(
        await readHistory({
          database,
          table,
          feeder,
          sampler: samplers[shard] as TableSampler,
          recorded: databases.length === 1 ? recorded : partOf(recorded, shard),
          leaseMs: leaseOf(this.#options.scenario),
        }),
      )
    return judgeShards(histories as [History, ...History[]], recorded)
  }

  #countFaults({ ledger }: { ledger: LedgerLine[] }) {
    const selfKills = ledger.filter(({ kind }) => kind === 'self-kill')
    return countByKind([...this.#injected, ...selfKills.map(() => ({ kind: 'directed:kill' }))])
  }

  async #injectAll(scenes: [Scene, ...Scene[]], schedule: Fault[]) {
    const from = performance.now()
    const under = []
    for (const fault of schedule) {
      await sleep(Math.max(0, fault.atMs - (performance.now() - from)))
      if (this.#options.signal?.aborted === true) throw new Error('interrupted')
      under.push(
        inject(scenes[fault.shard ?? 0] ?? scenes[0], fault).then((isHit) => {
          if (isHit) this.#injected.push(fault)
        }),
      )
    }
    await Promise.all(under)
  }

  #healAndDrain(scene: Scene, feeder: JobFeeder) {
    for (const slot of [...scene.workers, scene.reaper]) {
      slot.signal('SIGCONT')
      for (const proxy of slot.proxies) proxy.heal()
    }
    return feeder.drain(this.#options.signal)
  }
}
