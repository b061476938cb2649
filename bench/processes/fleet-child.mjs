// @ts-check
// Many workers in one process, whose calls are counted. Started by fleet.ts; answers every message with what it counted.
import { unstuck } from '../../dist/index.js'

/** @import { FleetPlan, FleetReport } from './fleet.ts' */

process.on('disconnect', () => process.exit(1))
// The parent gets the signal too and stops this process.
process.on('SIGINT', () => {})

const [url = '', planText = '{}'] = process.argv.slice(2)
const { workers, pollMs } = /** @type {FleetPlan} */ (JSON.parse(planText))
const counts = { claims: 0, looks: 0 }
/** @type {number[]} */
let latenciesMs = []
/** Workers of the fleet that each one knew at its last report. */
const known = new Map()

const apps = Array.from({ length: workers }, (_, index) => {
  const app = unstuck({ databaseUrl: url, logger: false, ...(pollMs === undefined ? {} : { pollMs }) })
  const real = { ...app.store }
  Object.assign(app.store, {
    /** @param {Parameters<typeof real.claimJobs>} args */
    claimJobs(...args) {
      counts.claims++
      return real.claimJobs(...args)
    },
    /** @param {string[]} queues */
    hasDueJobs(queues) {
      counts.looks++
      return real.hasDueJobs(queues)
    },
    /** @param {Parameters<typeof real.reportWorker>[0]} report */
    async reportWorker(report) {
      const answer = await real.reportWorker(report)
      known.set(index, answer.hintedWorkers.flatMap(({ workerIds }) => workerIds).length)
      return answer
    },
  })
  return app.handle('noop', async ({ payload }) => {
    const { sentAtMs } = /** @type {{ sentAtMs: number }} */ (payload)
    latenciesMs.push(performance.timeOrigin + performance.now() - sentAtMs)
  })
})
await Promise.all(apps.map((app) => app.start()))
process.send?.({ isReady: true })

process.on('message', (/** @type {{ isStop?: true }} */ { isStop }) => {
  if (isStop === true) return void Promise.all(apps.map((app) => app.stop())).then(() => process.exit(0))
  const { user, system } = process.cpuUsage()
  const knows = known.size < workers ? 0 : Math.min(...known.values())
  /** @type {FleetReport} */
  const report = { ...counts, knows, latenciesMs, cpuMs: (user + system) / 1_000 }
  latenciesMs = []
  process.send?.(report)
})
