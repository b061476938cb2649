// One statement extends the leases of all running jobs. Autovacuum is off for the table: the worst case between two vacuums.
import type { Bench, Measure, Values } from '../measure.ts'
import { claimAll, installNative, type NativeStore, withNativeStore } from '../processes/native-store.ts'
import { percentile } from '../report/statistics.ts'
import { readBenchSql } from '../sql-file.mjs'

export const heartbeats: Measure = {
  id: 'heartbeats',
  title: 'Heartbeats',
  method:
    'One call that extends the leases of all running jobs, beside finished and waiting ones; WAL, HOT updates and growth over all ticks, autovacuum off for the table.',
  columns: ({ sizes }) => [
    { key: 'beatMs', title: 'ms per beat', digits: 1 },
    { key: 'walBytes', title: 'WAL bytes per job and beat', digits: 0 },
    { key: 'hotShare', title: 'HOT share', digits: 3 },
    { key: 'growthMb', title: `growth MB after ${sizes.heartbeat.ticks} ticks`, digits: 1 },
    { key: 'tableMb', title: 'table MB before', digits: 1 },
  ],
  variants: (bench) =>
    bench.sizes.heartbeat.running.map((running) => ({
      id: `running-${running}`,
      name: `${running.toLocaleString('en')} running`,
      run: () => measure(bench, running),
    })),
}

async function measure({ servers, sizes }: Bench, running: number): Promise<Values> {
  const { finished, waiting, ticks } = sizes.heartbeat
  const fresh = await servers.fresh('postgres', {
    key: `heartbeats ${running}`,
    async prepare(url) {
      await installNative(url)
      await withNativeStore(url, async ({ query }) => {
        await query('alter table unstuck.jobs set (autovacuum_enabled = off)')
        await query(readBenchSql('seed_finished'), [0, finished])
        await query(readBenchSql('seed_queue'), [running, 'running'])
        await query(readBenchSql('seed_waiting'), [0, waiting])
      })
    },
  })
  try {
    return await withNativeStore(fresh.url, async (native) => {
      const leases = await claimAll(native, 'running')
      await native.store.heartbeatJobs(leases)
      return beat(native, leases, ticks)
    })
  } finally {
    await fresh.drop()
  }
}

async function beat(
  native: NativeStore,
  leases: { jobId: string; leaseId: string }[],
  ticks: number,
): Promise<Values> {
  const writesBefore = await readWrites(native)
  const before = await readSize(native)
  const tookMs: number[] = []
  for (let tick = 0; tick < ticks; tick++) {
    const startedAtMs = performance.now()
    const { answers } = await native.store.heartbeatJobs(leases)
    tookMs.push(performance.now() - startedAtMs)
    const kept = answers.filter(({ answer }) => answer === 'kept').length
    if (kept < leases.length) throw new Error(`${kept} of ${leases.length} leases were kept`)
  }
  const after = await readSize(native)
  const writesAfter = await readWrites(native)
  const updates = writesAfter.updates - writesBefore.updates
  return {
    beatMs: percentile(tookMs, 0.5),
    walBytes: (after.lsn - before.lsn) / (ticks * leases.length),
    hotShare: (writesAfter.hot_updates - writesBefore.hot_updates) / updates,
    growthMb: (after.bytes - before.bytes) / 2 ** 20,
    tableMb: before.bytes / 2 ** 20,
  }
}

/** The first call flushes this connection's counters at its end; the second reads them. */
async function readWrites({ query }: NativeStore): Promise<{ updates: number; hot_updates: number }> {
  const text = readBenchSql('table_writes')
  await query(text)
  const [row] = await query<{ updates: number; hot_updates: number }>(text)
  if (row === undefined) throw new Error('the table is not there')
  return row
}

async function readSize({ query }: NativeStore): Promise<{ bytes: number; lsn: number }> {
  const [row] = await query<{ bytes: number; lsn: string }>(readBenchSql('table_size'))
  const [high = '0', low = '0'] = row?.lsn.split('/') ?? []
  return { bytes: row?.bytes ?? 0, lsn: Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16) }
}
