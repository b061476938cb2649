// Failover with lost commits: an asynchronous replica falls behind, the primary dies and the replica is promoted. Commits in
// between are lost; no lease from the lost time may pass for one of the new timeline.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Disturbances } from '../faults/disturbances.ts'
import { makeFailover } from '../faults/schedule.ts'
import { TcpProxy } from '../faults/tcp-proxy.ts'
import { checkHistory } from '../judge/check-history.ts'
import type { LedgerLine } from '../judge/history.ts'
import { readDatabase, readLedgers } from '../judge/read-history.ts'
import { summarise } from '../judge/summary.ts'
import { TableSampler } from '../judge/table-sampler.ts'
import { type CleanUps, withFolder } from '../processes/clean-ups.ts'
import { AddressedDatabase, ChaosDatabase, tableOf } from '../processes/database.ts'
import { processesOf, serverPid } from '../processes/processor-waits.ts'
import { startScene, stopScene } from '../processes/scene.ts'
import { StallMeter } from '../processes/stall-meter.ts'
import { LEASE_MS, POLL_MS, policyFor, SWEEP_MS } from '../settings.ts'
import { JobFeeder } from '../workload/job-feeder.ts'
import { makeWorkload } from '../workload/workload.ts'
import type { ChaosOptions } from './run-chaos.ts'

export function runFailover(options: ChaosOptions) {
  return withFolder(options, (folder, cleanUps) => new Failover(options, folder, cleanUps).run())
}

class Failover {
  #options
  #folder
  #cleanUps
  #disturbances = new Disturbances()
  #stalls = new StallMeter()

  constructor(options: ChaosOptions, folder: string, cleanUps: CleanUps) {
    this.#options = options
    this.#folder = folder
    this.#cleanUps = cleanUps
    cleanUps.add(() => this.#stalls.stop())
  }

  async run() {
    const { seed, durationMs, profile, workload, say } = this.#options
    const startedAt = performance.now()
    const { primary, replica, replication } = await this.#startServers()
    const front = await this.#openProxy(primary.port)
    const address = new AddressedDatabase(withPort(primary.url, front.port))
    const scene = await startScene({
      databaseUrls: [primary.url],
      sqlReaperUrls: [address.url],
      folder: this.#folder,
      profile,
      disturbances: this.#disturbances,
      cleanUps: this.#cleanUps,
      onDirected: () => {},
    })
    const serving = () => serverPid(primary.dataDir) ?? serverPid(replica.dataDir)
    this.#stalls.watchProcessors(processesOf(scene, serving))
    const feeder = await JobFeeder.open([address], profile)
    this.#cleanUps.add(() => feeder.close())
    const sampler = new TableSampler(tableOf(profile))
    this.#cleanUps.add(() => sampler.stop())
    void sampler.run(address)
    say(`PostgreSQL ${primary.version}: a primary and an asynchronous replica`)

    const feeding = feeder.feed(makeWorkload({ seed, durationMs, workload }))
    const [behind] = makeFailover({ durationMs })
    await sleep(behind.atMs)
    const proxies = [front.proxy, ...[...scene.workers, scene.reaper].flatMap(({ proxies }) => proxies)]
    const promotedAt = await this.#failOver({
      primary,
      replica,
      replication,
      proxies,
      behindMs: behind.durationMs,
    })
    const acknowledgedBefore = feeder.enqueuedIds.length
    say(`promoted; ${acknowledgedBefore} jobs had been acknowledged`)
    await feeding
    const drainMs = await feeder.drain(this.#options.signal)
    sampler.stop()
    await stopScene(scene)
    this.#stalls.stop()
    const { history, lost } = await this.#readHistory(
      replica,
      feeder,
      scene,
      sampler,
      promotedAt,
      acknowledgedBefore,
    )
    const judgement = checkHistory(history)
    const summary = {
      scenario: 'failover',
      seed,
      profile,
      workload,
      postgres: primary.version,
      node: process.version,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      drainMs,
      faults: { failover: 1 },
      faultCount: 1,
      enqueued: feeder.enqueuedIds.length,
      ...lost,
      ...summarise(history, judgement),
    }
    const { violations, unjudged } = judgement
    return { summary, violations, unjudged, history }
  }

  async #startServers() {
    const primary = await ChaosDatabase.start(this.#folder, { wal_level: 'replica', max_wal_senders: '4' })
    this.#cleanUps.add(() => primary.close())
    await primary.install(this.#options.profile, policyFor(this.#options.profile, this.#options))
    await primary.stopInOrder()
    const folder = join(this.#folder, 'replica')
    const copy = join(folder, 'postgres')
    mkdirSync(folder)
    // Keeps owner and modes, which the server insists on.
    for (const suffix of ['', '.password']) spawnSync('cp', ['-a', primary.dataDir + suffix, copy + suffix])
    writeFileSync(join(copy, 'standby.signal'), '')
    await primary.startAgain()
    const replication = await this.#openProxy(primary.port)
    const { password } = new URL(primary.url)
    const replica = await ChaosDatabase.start(folder, {
      primary_conninfo: `host=127.0.0.1 port=${replication.port} user=postgres password=${decodeURIComponent(password)}`,
    })
    this.#cleanUps.add(() => replica.close())
    return { primary, replica, replication: replication.proxy }
  }

  async #openProxy(port: number) {
    const proxy = new TcpProxy(port)
    this.#cleanUps.addKill(() => proxy.close())
    return { proxy, port: await proxy.listen() }
  }

  async #failOver({
    primary,
    replica,
    replication,
    proxies,
    behindMs,
  }: {
    primary: ChaosDatabase
    replica: ChaosDatabase
    replication: TcpProxy
    proxies: TcpProxy[]
    behindMs: number
  }) {
    const end = this.#disturbances.begin('*', 'database-stopped')
    replication.blackhole()
    await sleep(behindMs)
    await primary.stopAtOnce()
    await replica.withClient((client) => client.query('select pg_promote(true, 30)'))
    const promotedAt = Date.now()
    for (const proxy of proxies) proxy.targetPort = replica.port
    end()
    return promotedAt
  }

  async #readHistory(
    replica: ChaosDatabase,
    feeder: JobFeeder,
    scene: { ledgers: string[] },
    sampler: TableSampler,
    promotedAt: number,
    acknowledgedBefore: number,
  ) {
    const table = tableOf(this.#options.profile)
    const rows = await replica.withClient((client) => readDatabase(client, table))
    const ledger = readLedgers(scene.ledgers)
    const fed = feeder.outcome()
    const ids = new Set(rows.jobs.map(({ id }) => id))
    const finishedBy = new Map(rows.jobs.map(({ id, finishedLeaseId }) => [id, finishedLeaseId]))
    const lostCompletions = ledger.filter(
      (line) => line.at <= promotedAt && isCompletion(line) && finishedBy.get(line.job ?? '') !== line.lease,
    )
    return {
      lost: {
        lostEnqueues: fed.enqueuedIds.slice(0, acknowledgedBefore).filter((id) => !ids.has(id)).length,
        lostCompletions: lostCompletions.length,
        lostAndDoneAgain: lostCompletions.filter(({ job }) => finishedBy.get(job ?? '') != null).length,
        fencesGrantedTwice: countRepeatedFences(ledger),
      },
      history: {
        ...rows,
        ...fed,
        // An asynchronous replica may lose these. Everything acknowledged after the promotion is judged.
        enqueuedIds: fed.enqueuedIds.slice(acknowledgedBefore),
        ledger: ledger.flatMap((line) => (line.at > promotedAt ? [line] : withoutPromises(line))),
        policy: { ...table.policy, ...feeder.storedPolicy },
        limits: {},
        times: { leaseMs: LEASE_MS, sweepMs: SWEEP_MS, pollMs: POLL_MS[1] },
        samples: sampler.samples,
        disturbances: this.#disturbances.list,
        stalls: this.#stalls.stalls,
      },
    }
  }
}

function isCompletion({ kind, verb, outcome }: LedgerLine) {
  return kind === 'answered' && verb === 'completeJobs' && outcome === 'completed'
}

function withoutPromises(line: LedgerLine): LedgerLine[] {
  if (line.kind === 'answered') return []
  return [line.kind === 'ended' ? { ...line, end: 'before the failover' } : line]
}

/** Two leases of one job with the same fence: why the fence is not a credential (C1). */
function countRepeatedFences(ledger: LedgerLine[]) {
  const starts = ledger.filter(({ kind }) => kind === 'started')
  const leases = new Set(starts.map(({ job, lease }) => `${job} ${lease}`))
  const fences = new Set(starts.map(({ job, fence }) => `${job} ${fence}`))
  return leases.size - fences.size
}

function withPort(url: string, port: number) {
  const address = new URL(url)
  address.port = String(port)
  return address.href
}
