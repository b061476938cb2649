import { describe, expect, it } from 'vitest'
import type { Job, JobList } from '../../../src/http/contract/index.ts'
import { type ExportFormat, exportJobs } from './export-jobs.ts'
import { columnsOf, columnsText } from './job-columns.ts'

const job = (id: string, payload: unknown) =>
  ({ id, table: 'jobs', type: 'run_asr', status: 'dead', payload }) as unknown as Job
const page = (jobs: Job[], next_cursor: string | null) =>
  ({ db_now: '', table: 'jobs', jobs, next_cursor, searched_to: null }) satisfies JobList

async function exported(format: ExportFormat, jobs: Job[][], signal = new AbortController().signal) {
  const told: number[] = []
  const parts = await exportJobs({
    format,
    columns: columnsOf('type,payload.user.id,payload.note'),
    readPage: (cursor) => {
      const number = Number(cursor ?? 0)
      return Promise.resolve(page(jobs[number] ?? [], number + 1 < jobs.length ? String(number + 1) : null))
    },
    tell: (count) => told.push(count),
    signal,
  })
  return { text: parts?.join('') ?? null, told }
}

describe('exportJobs', () => {
  it('OPS-9 reads all pages and reports progress', async () => {
    const { text, told } = await exported('ndjson', [[job('a', {}), job('b', {})], [job('c', {})]])
    const lines = (text ?? '').trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as Job).id)).toEqual(['a', 'b', 'c'])
    expect(told).toEqual([2, 3])
  })

  it('OPS-9 a cell of CSV is quoted where it has to be, and none is a formula', async () => {
    const { text } = await exported('csv', [
      [job('a', { user: { id: 42 }, note: 'one, "two"' }), job('b', { user: { id: -1 }, note: '=1+1' })],
    ])
    expect(text?.split('\r\n')).toEqual([
      'id,table,type,payload.user.id,payload.note',
      'a,jobs,run_asr,42,"one, ""two"""',
      "b,jobs,run_asr,-1,'=1+1",
      '',
    ])
  })

  it('OPS-9 a stopped export makes no file', async () => {
    expect((await exported('csv', [[job('a', {})]], AbortSignal.abort())).text).toBeNull()
  })
})

describe('columnsOf', () => {
  it('SEE-5 takes columns and paths of the payload from the address, and nothing else', () => {
    const keys = columnsOf('owner,payload.user.id,nonsense,payload,owner').map(({ key }) => key)
    expect(keys).toEqual(['owner', 'payload.user.id'])
  })

  it('SEE-5 the usual columns are not in the address', () => {
    expect(columnsText(columnsOf(null).map(({ key }) => key))).toBeNull()
    expect(columnsText(['type'])).toBe('type')
  })
})
