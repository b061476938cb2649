import { readFile } from 'node:fs/promises'
import { createInstaller, loadConfig, unstuck } from 'unstuck'
import { AddressedDatabase, readSql } from '../../processes/database.ts'
import type { Contender } from '../contender.ts'
import type { PeerJob } from '../make-jobs.ts'
import { BUDGET, CONCURRENCY, EXPIRY_MS, SWEEP_MS, WORKER_GRACE_MS } from '../settings.ts'

const policy = {
  default_lease_ms: EXPIRY_MS,
  heartbeat_ms: EXPIRY_MS / 4,
  sweep_interval_ms: SWEEP_MS,
  reap_backoff_steps_ms: [200],
  max_crashes: BUDGET,
  max_attempts: BUDGET,
}
const worker = { concurrency: CONCURRENCY, graceMs: WORKER_GRACE_MS }

export const contender: Contender = {
  name: 'unstuck',
  auditSql: 'unstuck_audit',
  unfinishedSql: 'unstuck_unfinished',
  settings: { ...policy, ...worker },
  async version() {
    const text = await readFile(new URL('../../../../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  },
  async install(url) {
    await createInstaller(loadConfig({ env: { DATABASE_URL: url } })).up()
    const sql = await readSql('write_policy')
    await new AddressedDatabase(url).withClient((client) =>
      client.query(sql, ['native', JSON.stringify(policy)]),
    )
  },
  openProducer: (url) => {
    const queue = unstuck({ databaseUrl: url })
    return Promise.resolve({
      add: (payload) => queue.enqueue({ type: 'work', payload }),
      close: () => queue.stop(),
    })
  },
  async startWorker({ url, workerId, handle }) {
    const queue = unstuck({ databaseUrl: url, workerId, logger: false, ...worker })
    queue.handle('work', (job, { signal }) => handle(job.payload as PeerJob, signal))
    await queue.start()
    return { stop: () => queue.stop() }
  },
}
