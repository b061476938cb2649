// A full sweep of expired leases, each with its event row, while another process claims.
import type { TimedClaim } from '../contenders/contender.ts'
import type { Bench, Measure, Values } from '../measure.ts'
import { claimAll, installNative, type NativeStore, withNativeStore } from '../processes/native-store.ts'
import { clockMs, pause, startClaims } from '../processes/processes.ts'
import { percentile } from '../report/statistics.ts'
import { readBenchSql } from '../sql-file.mjs'

const CALM_MS = 1_000

export const reaping: Measure = {
  id: 'reaping',
  title: 'Reaping',
  method:
    'One sweep in batches of 1,000 takes back every lease that has run out, with an event row for each. Another process claims single jobs of another queue all the time.',
  columns: () => [
    { key: 'sweepMs', title: 'sweep ms' },
    { key: 'reapedPerS', title: 'reaped/s' },
    { key: 'calmP99Ms', title: 'claim p99 ms before', digits: 2 },
    { key: 'sweptP99Ms', title: 'claim p99 ms meanwhile', digits: 2 },
    { key: 'slowdown', title: 'meanwhile / before', digits: 2 },
  ],
  variants: (bench) =>
    bench.sizes.expired.map((expired) => ({
      id: `expired-${expired}`,
      name: `${expired.toLocaleString('en')} expired`,
      run: () => measure(bench, expired),
    })),
}

async function measure({ servers }: Bench, expired: number): Promise<Values> {
  const fresh = await servers.fresh('postgres', {
    key: `reaping ${expired}`,
    async prepare(url) {
      await installNative(url)
      await withNativeStore(url, async (native) => {
        await native.query(readBenchSql('seed_queue'), [20_000, 'claimed'])
        await native.query(readBenchSql('seed_queue'), [expired, 'lost'])
        await claimAll(native, 'lost', 1)
      })
    },
  })
  try {
    const claims = await startClaims('claimed', fresh.url)
    const calmAtMs = clockMs()
    await pause(CALM_MS)
    const sweepAtMs = clockMs()
    const reaped = await withNativeStore(fresh.url, ({ store }) => sweepAll(store))
    const endedAtMs = clockMs()
    const timed = await claims.stop()
    if (reaped !== expired) throw new Error(`${reaped} of ${expired} leases were taken back`)
    const calmP99Ms = p99(timed.filter(([atMs]) => atMs >= calmAtMs && atMs < sweepAtMs))
    const sweptP99Ms = p99(timed.filter(([atMs]) => atMs >= sweepAtMs && atMs < endedAtMs))
    const sweepMs = endedAtMs - sweepAtMs
    const reapedPerS = (expired / sweepMs) * 1_000
    return { sweepMs, reapedPerS, calmP99Ms, sweptP99Ms, slowdown: sweptP99Ms / calmP99Ms }
  } finally {
    await fresh.drop()
  }
}

async function sweepAll(store: NativeStore['store']): Promise<number> {
  let step = await store.sweepJobs()
  let reaped = step.reaped.length
  while (step.next !== null) {
    step = await store.sweepJobs({ cursor: step.next })
    reaped += step.reaped.length
  }
  return reaped
}

const p99 = (claims: TimedClaim[]) =>
  percentile(
    claims.map(([, tookMs]) => tookMs),
    0.99,
  )
