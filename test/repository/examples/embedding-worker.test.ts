// examples/embedding-worker: an API that says 429, and a retention that has to be chosen.
import { expect, it, vi } from 'vitest'
import { makeDatabase, makeFolder, startExample } from './example-process.ts'

vi.setConfig({ testTimeout: 120_000 })

it('RATE-2 RATE-5 the embedding worker: every text is embedded once, and neither a limit nor a 429 costs an attempt', async () => {
  const { url, pool } = await makeDatabase()
  const example = startExample('embedding-worker/start.mjs', {
    args: [makeFolder(), '40'],
    env: { DATABASE_URL: url, DEFAULT_LEASE_SEC: '60' },
  })
  const said = example.said(/(\d+) of 40 texts embedded, (\d+) more than once, (\d+) calls refused with 429/)
  await example.finished()
  const [, done, again, refused] = await said
  expect([done, again]).toEqual(['40', '0'])
  expect(Number(refused)).toBeGreaterThan(0)
  const { rows } = await pool.query(
    `select status, attempts, error_code, count(*)::int, count(distinct result ->> 'vector')::int as vectors,
            sum(releases)::int as releases
       from embedding_jobs group by 1, 2, 3`,
  )
  expect(rows).toEqual([
    {
      status: 'completed',
      attempts: 0,
      error_code: null,
      count: 40,
      vectors: 40,
      releases: expect.any(Number),
    },
  ])
  // Those that got a 429, and those that a claim had taken when the tokens ran out.
  expect(rows[0].releases).toBeGreaterThan(Number(refused))
  expect(example.lines).toContain('1 job past the retention deleted')
})

it.each([
  ['of three days', 'start', { EMBED_JOB_RETENTION_DAYS: '3' }, 'from 7 to 30'],
  ['that nobody chose', 'worker', {}, '14 is recommended'],
])('OPS-2 the embedding worker does not start with a retention %s', async (_, program, env, takes) => {
  const { url, pool } = await makeDatabase()
  const example = startExample(`embedding-worker/${program}.mjs`, {
    args: [makeFolder()],
    env: { DATABASE_URL: url, ...env },
  })
  expect(await example.ended).not.toBe(0)
  expect(example.lines.find((line) => line.includes('EMBED_JOB_RETENTION_DAYS: '))).toContain(takes)
  expect((await pool.query(`select to_regclass('embedding_jobs') as made`)).rows).toEqual([{ made: null }])
})
