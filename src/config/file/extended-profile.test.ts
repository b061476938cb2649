import { describe, expect, it } from 'vitest'
import { executorProfile } from '../../profile/executor.ts'
import { loadConfig } from '../load/load-config.ts'
import { profileOf } from '../profile-of.ts'

const load = (profile: unknown, env: Record<string, string> = {}) =>
  loadConfig({ env, file: { profile } as never })
const [document] = executorProfile.tables

describe('a profile that extends a shipped one', () => {
  it('OPS-13 keeps what it does not name, and takes what it names', () => {
    const given = {
      name: 'ops',
      extends: 'executor',
      tables: [
        {
          schema: 'ops',
          table: 'workItems',
          columns: { worker_id: 'lockedBy' },
          statuses: { succeeded: 'finished' },
          policy: { stageLeasesMs: { run_tsa: 60_000 } },
          teamObjects: { reclaim_stale_jobs: 'reclaim', wake_execution_engine: false },
        },
      ],
    }
    const [table] = profileOf(load(given)).tables
    expect(table).toMatchObject({
      attachment: 'work_items',
      schema: 'ops',
      table: 'workItems',
      columns: { ...document.columns, worker_id: 'lockedBy' },
      statuses: { ...document.statuses, succeeded: 'finished' },
      hasLockTime: true,
      lastError: document.lastError,
    })
    expect(table.policy.stageLeasesMs).toEqual({ ...document.policy.stageLeasesMs, run_tsa: 60_000 })
    expect(table.policy.reapBudget).toBe('attempts')
    expect(table.teamObjects?.map(({ name, calls }) => [name, calls])).toEqual([
      ['process_orchestrator_jobs', 'reclaim'],
      ['reclaim', undefined],
      ['update_job_heartbeat', undefined],
      ['jobs_stale_monitor', undefined],
      ['jobs_stale_validation', undefined],
      ['jobs_reclaim_history', undefined],
    ])
  })

  it('OPS-13 has the tables of the document where it names none', () => {
    const profile = profileOf(load({ name: 'mine', extends: 'clip' }))
    expect(profile.name).toBe('mine')
    expect(profile.tables.map(({ table }) => table)).toEqual(['jobs', 'asr_jobs'])
  })

  it('OPS-13 moves the events table with the table, unless it says otherwise', () => {
    const tables = [{ schema: 'media' }, { schema: 'media', teamEvents: null }]
    const [jobs, asr] = profileOf(load({ name: 'mine', extends: 'clip', tables })).tables
    expect(jobs.teamEvents).toMatchObject({ schema: 'media', table: 'job_events' })
    expect(asr?.teamEvents).toBeNull()
  })

  it('OPS-13 has the variables of the document', () => {
    const profile = { name: 'mine', extends: 'embedding' }
    expect(() => load(profile)).toThrow(/EMBED_JOB_RETENTION_DAYS/)
    expect(load(profile, { EMBED_JOB_RETENTION_DAYS: '20' }).policy.retentionDays).toBe(20)
  })

  it.each<[string, object, string, RegExp]>([
    ['an unknown profile', { extends: 'exector' }, 'profile.extends', /executor/],
    ['the native profile', { extends: 'native' }, 'profile.extends', /clip or /],
    ['no name', { name: undefined }, 'profile.name', /letters/],
    ['a second table', { tables: [{}, {}] }, 'profile.tables', /at most 1, as executor/],
    [
      'an object that the document has not',
      { tables: [{ teamObjects: { reclaim_jobs: 'x' } }] },
      'profile.tables[0].teamObjects.reclaim_jobs',
      /reclaim_stale_jobs/,
    ],
    [
      'a bad name for an object',
      { tables: [{ teamObjects: { reclaim_stale_jobs: 'a b' } }] },
      'profile.tables[0].teamObjects.reclaim_stale_jobs',
      /another name, or false/,
    ],
    ['a misspelt field', { tables: [{ shema: 'x' }] }, 'profile.tables[0].shema', /did you mean schema/],
  ])('OPS-13 with %s is refused by the name of the field', (_, given, name, takes) => {
    const problems = (() => {
      try {
        load({ name: 'ops', extends: 'executor', ...given })
      } catch (error) {
        return (error as { details: { problems: { name: string; takes: string }[] } }).details.problems
      }
      return []
    })()
    expect(problems).toEqual([
      expect.objectContaining({
        name: expect.stringContaining(name),
        takes: expect.stringMatching(takes),
      }),
    ])
  })
})
