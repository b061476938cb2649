import { describe, expect, it } from 'vitest'
import type { Job } from '../../../src/http/contract/index.ts'
import { patchRows } from './job-rows.ts'

const jobs = (...ids: string[]) => ids.map((id) => ({ id, table: 'jobs', status: 'waiting' }) as Job)
const idsOf = (rows: Job[]) => rows.map(({ id }) => id).join(' ')

function patched(shown: string, fresh: string, hasMore = false) {
  const { rows, arrived } = patchRows(jobs(...shown.split(' ')), jobs(...fresh.split(' ')), hasMore)
  return { rows: idsOf(rows), arrived }
}

describe('patchRows', () => {
  it('SEE-5 a row is patched in its place', () => {
    const [row] = patchRows(jobs('b', 'a'), [{ ...jobs('b')[0], status: 'dead' } as Job], false).rows
    expect(row?.status).toBe('dead')
  })

  it('SEE-5 new jobs wait, above the rows and between them', () => {
    expect(patched('d b a', 'f e d c b a')).toEqual({ rows: 'd b a', arrived: 3 })
  })

  it('SEE-5 a job that no longer fits goes', () => {
    expect(patched('d c b a', 'd b a')).toEqual({ rows: 'd b a', arrived: 0 })
  })

  it('SEE-5 what new jobs pushed off the page stays', () => {
    expect(patched('d c b a', 'f e d c', true)).toEqual({ rows: 'd c b a', arrived: 2 })
    expect(patched('b a', 'f e d c', true)).toEqual({ rows: 'b a', arrived: 4 })
  })

  it('SEE-5 a further page comes below at once', () => {
    expect(patched('d c', 'd c b a')).toEqual({ rows: 'd c b a', arrived: 0 })
  })

  it('SEE-5 where none of the rows is left, all that is there is new', () => {
    expect(patched('b a', 'd c')).toEqual({ rows: '', arrived: 2 })
  })
})
