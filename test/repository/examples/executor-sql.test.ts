// examples/executor-sql: no worker in Node. Needs psql and python3.
import { spawnSync } from 'node:child_process'
import { expect, it, vi } from 'vitest'
import { makeDatabase, makeFolder, startExample } from './example-process.ts'

vi.setConfig({ testTimeout: 120_000 })

const missing = ['psql', 'python3'].filter((name) => spawnSync(name, ['--version']).status !== 0)

// Without these programs nothing of the example runs.
it.skipIf(missing.length > 0)(
  'OPS-3 the executor in SQL: a job of a killed Python worker is reclaimed by SQL and done by another',
  async () => {
    const { url, pool } = await makeDatabase()
    const example = startExample('executor-sql/start.mjs', {
      args: [makeFolder(), '2', '3'],
      env: { DATABASE_URL: url },
    })
    const [, killed, document] = await example.said(/worker (\d+): (contract-\d\.pdf): claimed/)
    process.kill(Number(killed), 'SIGKILL')
    await example.finished()

    const { rows } = await pool.query(
      `select payload ->> 'document' as document, status, result ->> 'worker' as worker, reclaim.attempts_after
         from public.executor_jobs
         left join public.executor_jobs_reclaim_history reclaim
           on reclaim.job_id = executor_jobs.id::text and reclaim.previous_worker = $1`,
      [`python-${killed}`],
    )
    expect(rows.map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    for (const { worker } of rows) expect(worker).not.toBe(`python-${killed}`)
    // A reclaim counts an attempt.
    expect(rows.find((row) => row.document === document)).toMatchObject({ attempts_after: 1 })
    expect(example.lines.join('\n')).toMatch(/pg_cron sweeps|the server has no pg_cron: a psql sweeps/)
  },
)
