// The cost of presence for the server: one look at a large fleet, and the statements of idle workers.
import { readFileSync } from 'node:fs'
import type { Bench, Measure, Values } from '../measure.ts'
import { installNative, withNativeStore } from '../processes/native-store.ts'
import { pause, startBenchWorker } from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'

const WARM_UP_MS = 5_000

export const presence: Measure = {
  id: 'presence',
  title: 'Presence',
  isOnce: true,
  method:
    'Looks at workers that all hold their lock: time and CPU time of the server process for one. Idle worker processes, with presence and without: transactions a second of all of them together.',
  columns: () => [
    { key: 'lookMs', title: 'look ms', digits: 2 },
    { key: 'lookCpuMs', title: 'server CPU ms', digits: 2 },
    { key: 'transactionsPerS', title: 'transactions/s', digits: 2 },
  ],
  variants(bench) {
    const { workers, idle } = bench.sizes.presence
    const idles = (['auto', 'off'] as const).map((setting) => ({
      id: `idle-${setting}`,
      name: `${idle} idle workers, presence ${setting}`,
      run: () => countTransactions(bench, setting),
    }))
    const look = { id: 'look', name: `${workers.toLocaleString('en')} workers present` }
    return [{ ...look, run: () => measureLooks(bench) }, ...idles]
  },
}

async function measureLooks({ servers, sizes }: Bench): Promise<Values> {
  const { workers, looks } = sizes.presence
  const fresh = await servers.fresh('postgres', { key: 'presence', prepare: installNative })
  try {
    return await withNativeStore(fresh.url, async ({ query }) => {
      await query(readBenchSql('take_presences'), [workers])
      const [row] = await query<{ pid: number }>('select pg_backend_pid() as pid')
      const look = () => query("select * from unstuck.look_at_workers('native')")
      for (let count = 0; count < 10; count++) await look()
      const [startCpuMs, startMs] = [readCpuMs(row?.pid ?? 0), performance.now()]
      for (let count = 0; count < looks; count++) await look()
      const elapsedMs = performance.now() - startMs
      return { lookMs: elapsedMs / looks, lookCpuMs: (readCpuMs(row?.pid ?? 0) - startCpuMs) / looks }
    })
  } finally {
    await fresh.drop()
  }
}

/** Time on a processor. */
function readCpuMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}

async function countTransactions({ servers, sizes }: Bench, setting: 'auto' | 'off'): Promise<Values> {
  const { idle, idleMs } = sizes.presence
  const fresh = await servers.fresh('postgres', {
    key: `presence ${setting}`,
    async prepare(url) {
      await installNative(url)
      await withNativeStore(url, ({ store }) => store.writePolicy({ presence: setting }))
    },
  })
  const workers = await Promise.all(
    Array.from({ length: idle }, () => startBenchWorker('unstuck', fresh.url, 'work-by-default')),
  )
  try {
    return await withNativeStore(fresh.url, async ({ query }) => {
      const count = async () =>
        Number((await query<{ count: string }>(readBenchSql('transaction_count')))[0]?.count)
      await pause(Math.min(WARM_UP_MS, idleMs))
      const [before, startMs] = [await count(), performance.now()]
      await pause(idleMs)
      const transactions = (await count()) - before
      return { transactionsPerS: (transactions / (performance.now() - startMs)) * 1_000 }
    })
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
    await fresh.drop()
  }
}
