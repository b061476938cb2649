// The cost of a large table: a worker's statements, an empty sweep and prune, and every read, beside finished, waiting and
// running jobs.
import type { Bench, Measure, Values } from '../measure.ts'
import { installNative, type NativeStore, withNativeStore } from '../processes/native-store.ts'
import { readBenchSql } from '../sql-file.mjs'
import { BATCH, callNames, measureCalls, pagesOf } from './growth-calls.ts'

/** Rows per statement while filling the table: one with millions of rows would time out. */
const PART = 100_000

interface Scenario {
  id: string
  name: string
  finished?: number
  waiting?: number
  running?: number
  /** In backoff, first by priority. */
  backoff?: number
}

const method = `verbs with ${BATCH} jobs; each read as the HTTP API makes it; on one connection.`

export const growthMeasures: Measure[] = [
  {
    id: 'growth',
    title: 'Growth',
    isOnce: true,
    method: `Server CPU ms of one call: ${method}`,
    columns: () => callNames.map((name) => ({ key: name, title: name, digits: 2 })),
    variants: (bench) => variantsOf(bench, 'growth'),
    isUpright: true,
  },
  {
    id: 'growth-pages',
    title: 'Growth in pages',
    isOnce: true,
    method: `Pages of 8 KiB that one call touches: ${method}`,
    columns: () => callNames.map((name) => ({ key: pagesOf(name), title: name, digits: 0 })),
    variants: (bench) => variantsOf(bench, 'growth-pages'),
    isUpright: true,
  },
]

/** Results that one of the two measures has left for the other. */
const left = new Map<string, Values[]>()

function variantsOf(bench: Bench, measure: string) {
  return scenarios(bench).map((scenario) => ({
    id: scenario.id,
    name: scenario.name,
    async run() {
      const own = left.get(`${measure} ${scenario.id}`)?.shift()
      if (own !== undefined) return own
      const values = await measureScenario(bench, scenario)
      for (const { id } of growthMeasures) {
        if (id === measure) continue
        const key = `${id} ${scenario.id}`
        left.set(key, [...(left.get(key) ?? []), values])
      }
      return values
    },
  }))
}

const count = (rows: number) => rows.toLocaleString('en')

function scenarios({ sizes }: Bench): Scenario[] {
  const { finished, waiting, running, backoff } = sizes.growth
  return [
    { id: 'none', name: 'an empty table' },
    { id: 'finished', name: `${count(finished)} finished`, finished },
    { id: 'waiting', name: `${count(waiting)} waiting`, waiting },
    { id: 'backoff', name: `${count(backoff)} in backoff first`, backoff },
    {
      id: 'all',
      name: `${count(finished)} finished, ${count(waiting)} waiting, ${count(running)} running`,
      finished,
      waiting,
      running,
    },
  ]
}

async function measureScenario({ servers, sizes }: Bench, scenario: Scenario): Promise<Values> {
  const { statements } = sizes.growth
  const url = await servers.shared({
    key: `growth ${scenario.id}`,
    async prepare(url) {
      await installNative(url)
      await withNativeStore(url, async (native) => {
        await seed(native, 'seed_finished', scenario.finished)
        await seed(native, 'seed_backoff', scenario.backoff)
        await seed(native, 'seed_running', scenario.running)
        // Enough for the calls to claim.
        await seed(native, 'seed_waiting', scenario.waiting ?? (statements + 1) * BATCH * 6)
      })
    },
  })
  return withNativeStore(url, (native) => measureCalls(native, statements))
}

async function seed({ query }: NativeStore, name: string, rows = 0): Promise<void> {
  for (let done = 0; done < rows; done += PART)
    await query(readBenchSql(name), [done, Math.min(PART, rows - done)])
}
