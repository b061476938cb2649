// Every read of the API beside a million finished jobs and events: its cost is bounded by indexes, not by the age of the table.
// Routes come from the document, so new ones are checked too.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../../src/commands/actor.ts'
import { type BuiltApp, buildApp, documentInfo } from '../../../src/http/app.ts'
import { EventTail } from '../../../src/http/stream/event-tail.ts'
import { LiveFeed } from '../../../src/http/stream/live-feed.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import {
  createPostgresAccess,
  createPostgresStore,
  type SqlClient,
} from '../../../src/store/postgres/index.ts'
import { createLargeTable } from '../../sql/plans/million-rows.ts'
import {
  accessPaths,
  type NestedPlan,
  type PlanNode,
  switchOnNestedPlans,
} from '../../sql/plans/nested-plans.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const ROWS = 1_000_000
/** Maximum of 8 KiB pages per request: a page of jobs, or the index of running ones. */
const MOST_PAGES = 3_000

interface Bench {
  database: TestDatabase
  app: BuiltApp
  client: ExplainingClient
  ids: { jobId: string; causeId: string; workerId: string }
}

let bench: Bench

beforeAll(async () => {
  const database = await createLargeTable(ROWS)
  await fillOtherTables(database.pool)
  const client = await openExplainingClient(database)
  const [table] = nativeProfile('unstuck').tables
  const options = { client, table, schema: 'unstuck' }
  const store = createPostgresStore(options)
  const app = buildApp({
    tables: [{ name: 'jobs', store }],
    access: createPostgresAccess(options),
    authorize: () => ({ id: 'ana', scopes }),
  })
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from unstuck.jobs where status = 'dead' order by id desc limit 1`,
  )
  const {
    groups: [group],
  } = await store.groupDeadJobs({ limit: 1 })
  const ids = { jobId: rows[0]?.id ?? '', causeId: group?.causeId ?? '', workerId: 'w' }
  bench = { database, app, client, ids }
}, 240_000)

afterAll(async () => {
  await bench.app.close()
  await bench.database.drop()
})

async function fillOtherTables(pool: pg.Pool): Promise<void> {
  await pool.query('alter table unstuck.events set (autovacuum_enabled = off)')
  await pool.query(
    `insert into unstuck.events (attachment, job_id, type, at, data)
     select 'native', id::text, case status when 'dead' then 'failed' else 'reaper:requeued' end,
            now() - interval '10 s' * (row_number() over (order by id desc)),
            jsonb_build_object('type', 'failed', 'table', 'jobs', 'at', '2026-01-01T00:00:00Z', 'details', '{}'::jsonb)
       from unstuck.jobs where status in ('dead', 'succeeded')`,
  )
  await pool.query(`update unstuck.jobs set error_code = 'GW_' || (get_byte(uuid_send(id), 15) % 7)::text,
                           error_reason = 'broken' where status = 'dead'`)
  await pool.query('vacuum (analyze) unstuck.events')
  await pool.query('vacuum (analyze) unstuck.jobs')
}

interface ExplainingClient {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] }>
  /** Pages read since the last call, including inside functions. */
  take(): Reading
}

interface Reading {
  plans: NestedPlan[]
  pages: number
  calls: string[]
}

/** One call at a time, each in a transaction: its plan is logged at its end. */
async function openExplainingClient(database: TestDatabase): Promise<ExplainingClient> {
  const client = await database.connect()
  await switchOnNestedPlans(client)
  let plans: NestedPlan[] = []
  let pages = 0
  let calls: string[] = []
  let last = Promise.resolve<unknown>(undefined)
  client.on('notice', ({ message }) => {
    const [, json] = /^duration: [^{]*plan:\s*(\{[\s\S]*\})\s*$/.exec(message ?? '') ?? []
    if (json === undefined) return
    const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode }
    plans.push({ text, plan })
  })
  const explained = async (text: string, params: unknown[]) => {
    await client.query('begin')
    try {
      return await client.query(text, params)
    } finally {
      await client.query('commit')
      const own = plans.at(-1)?.plan
      const read = (own?.['Shared Hit Blocks'] ?? 0) + (own?.['Shared Read Blocks'] ?? 0)
      pages += read
      calls.push(`${read} ${text.trim().slice(0, 80)}`)
    }
  }
  return {
    query(text, params) {
      const answer = last.then(() => explained(text, params))
      last = answer.catch(() => {})
      return answer
    },
    take() {
      const taken = { plans, pages, calls }
      plans = []
      calls = []
      pages = 0
      return taken
    },
  } satisfies ExplainingClient & SqlClient
}

/**
 * While other test files create and drop tables, a starved connection loses its caches, and the next call reads 1,600 catalogue
 * pages. A read over the limit is repeated, and the last one counts.
 */
async function expectIndexed<T>(what: string, look: () => Promise<T>, mostPages = MOST_PAGES): Promise<T> {
  let answer: T
  let reading: Reading
  let looks = 0
  do {
    bench.client.take()
    answer = await look()
    reading = bench.client.take()
  } while (reading.pages >= mostPages && ++looks < 3)
  const { plans, pages, calls } = reading
  for (const table of ['jobs', 'events']) {
    const walked = plans.filter(({ plan }) => accessPaths([{ text: '', plan }], table).has('seq scan'))
    expect(
      walked.map(({ text }) => text.trim().slice(0, 400)),
      `${what} goes through all of ${table}`,
    ).toEqual([])
  }
  expect(pages, `${what} reads so many pages: ${calls.slice(0, 12).join('; ')}`).toBeLessThan(mostPages)
  return answer
}

interface Operation {
  path: string
  parameters: { name: string; in: string; required?: boolean }[]
}

function listOperations(): Operation[] {
  const { paths = {} } = buildApp({
    tables: [{ name: 'jobs', store: {} as never }],
    access: {} as never,
  }).api.getOpenAPI31Document(documentInfo)
  return Object.entries(paths).flatMap(([path, item]) =>
    item?.get === undefined
      ? []
      : [{ path, parameters: (item.get.parameters ?? []) as Operation['parameters'] }],
  )
}

const filters = [
  '',
  'status:dead',
  'status:succeeded',
  'status:waiting',
  'status:running',
  'type:clip status:dead',
  'queue:clip status:waiting',
  'error:GW_1',
  'lease:<0',
  'type:absent',
  'owner:nobody',
  'worker:nobody',
  'error:NONE',
  'older:2h',
]

describe('beside a million finished jobs', () => {
  /** Path parameters; an unknown id matches nothing, which is a read too. */
  function addressOf({ path }: Operation): string {
    const { jobId, causeId, workerId } = bench.ids
    return path
      .replace('/jobs/{id}', `/jobs/${jobId}`)
      .replace('/workers/{id}', `/workers/${workerId}`)
      .replace('/dead-letters/{cause_id}', `/dead-letters/${causeId}`)
      .replaceAll(/\{\w+\}/g, 'clip')
  }

  async function ask(address: string): Promise<number> {
    const response = await bench.app.fetch(new Request(`http://x${address}`))
    if (!address.startsWith('/v1/stream')) await response.text()
    return response.status
  }

  it.each(listOperations().filter(({ path }) => path !== '/v1/stream'))(
    'OPS-1 GET $path stays on indexes',
    async (operation) => {
      const address = addressOf(operation)
      const get = async () => expect(await ask(address), `GET ${address}`).toBeLessThan(500)
      await get()
      await expectIndexed(address, get)
    },
  )

  it.each(filters)('OPS-9 GET /v1/jobs?q=%s and its next page stay on indexes', async (q) => {
    const address = `/v1/jobs?limit=100&q=${encodeURIComponent(q)}`
    const { next_cursor: cursor } = await expectIndexed(address, async () => {
      const response = await bench.app.fetch(new Request(`http://x${address}`))
      expect(response.status).toBe(200)
      return (await response.json()) as { next_cursor: string | null }
    })
    if (cursor === null) return
    const after = `${address}&cursor=${encodeURIComponent(cursor)}`
    await expectIndexed(after, async () => expect(await ask(after)).toBe(200))
  })

  it('SEE-5 a look of the live stream stays on indexes', async () => {
    const { client } = bench
    const [table] = nativeProfile('unstuck').tables
    const options = { client, table, schema: 'unstuck' }
    const access = createPostgresAccess(options)
    const feed = new LiveFeed({ tables: [{ name: 'jobs', store: createPostgresStore(options) }], access })
    const topics = new Set(['leases', 'events', 'counts', 'breakers'] as const)
    const look = () =>
      new Promise<void>((resolve) => {
        const end = feed.subscribe({
          topics,
          hear({ topic }) {
            if (topic !== 'breakers') return
            end()
            resolve()
          },
        })
      })
    // Five hundred running jobs are listed, each read by id.
    await expectIndexed('a look of the live stream', look, 10_000)
    await expectIndexed('the tail of events', async () => {
      const tail = new EventTail(access)
      await tail.next()
      await tail.after(BigInt((await access.readClock()).lastEventId) - 500n)
      await tail.among([1n, 2n, 999_999n])
    })
  })
})
