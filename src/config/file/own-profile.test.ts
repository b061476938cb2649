import { describe, expect, it } from 'vitest'
import { loadConfig } from '../load/load-config.ts'
import { profileOf } from '../profile-of.ts'

const statuses = { waiting: 'queued', running: ['processing'], succeeded: 'done', dead: 'failed' }
const table = { table: 'video_jobs', idType: 'uuid', statuses }
const own = { name: 'video', tables: [table] }

const load = (profile: unknown, env: Record<string, string> = {}, flag?: string) =>
  loadConfig({ env, flags: { profile: flag }, file: { profile } as never })

function problemsOf(profile: unknown): { name: string; got: string | null; takes: string }[] {
  try {
    load(profile)
  } catch (error) {
    return (error as { details: { problems: [] } }).details.problems
  }
  throw new Error('nothing was refused')
}

describe('a profile in the config file', () => {
  it('OPS-8 is in force, with everything that it leaves out filled in', () => {
    const config = load({ ...own, tables: [{ ...table, policy: { defaultLeaseMs: 60_000 } }] })
    expect(config.profile).toBe('video')
    expect(profileOf(config)).toMatchObject({
      name: 'video',
      tables: [
        {
          attachment: 'video_jobs',
          schema: 'public',
          columns: {},
          statuses: { ...statuses, cancelled: null },
          teamEvents: null,
          policy: { defaultLeaseMs: 60_000, heartbeatMs: 15_000 },
        },
      ],
    })
    expect(config.values).toContainEqual({
      name: 'profile',
      value: 'video',
      source: 'file',
      requirement: 'OPS-8',
    })
    expect(config.heartbeatMs).toBe(15_000)
  })

  it('OPS-8 is in force where an option or a variable names it, and not where they name another', () => {
    expect(load(own, { UNSTUCK_PROFILE: 'video' }).profile).toBe('video')
    expect(load(own, {}, 'video').profile).toBe('video')
    const other = load(own, { UNSTUCK_PROFILE: 'clip' })
    expect(other.ownProfile).toBeNull()
    expect(profileOf(other).name).toBe('clip')
  })

  it('OPS-8 tells its own name where a variable has no effect in it', () => {
    expect(load(own, { WORKER_LEASE_TTL_SEC: '60' }).warnings).toEqual([
      'WORKER_LEASE_TTL_SEC: is set, but has no effect in the profile video',
    ])
  })

  it.each<[string, unknown, { name: string; takes: RegExp | string }]>([
    ['no name', { tables: [table] }, { name: 'profile.name', takes: /letters/ }],
    [
      'the name of a shipped one',
      { ...own, name: 'clip' },
      { name: 'profile.name', takes: /no name of a shipped/ },
    ],
    ['no tables', { name: 'video', tables: [] }, { name: 'profile.tables', takes: /at least one/ }],
    [
      'a table that is no object',
      { ...own, tables: ['jobs'] },
      { name: 'profile.tables[0]', takes: 'an object' },
    ],
    [
      'a misspelt field',
      { ...own, tables: [{ ...table, colums: {} }] },
      { name: 'profile.tables[0].colums', takes: /did you mean columns\?/ },
    ],
    [
      'another id type',
      { ...own, tables: [{ ...table, idType: 'int' }] },
      { name: 'profile.tables[0].idType', takes: 'uuid or bigint or text' },
    ],
    [
      'a column that the engine does not know',
      { ...own, tables: [{ ...table, columns: { workerid: 'w' } }] },
      { name: 'profile.tables[0].columns.workerid', takes: /did you mean worker_id\?/ },
    ],
    [
      'a column without a name',
      { ...own, tables: [{ ...table, columns: { worker_id: 7 } }] },
      { name: 'profile.tables[0].columns.worker_id', takes: 'the name of a column' },
    ],
    [
      'a key of the payload without a column',
      { ...own, tables: [{ ...table, payload: { path: '' } }] },
      { name: 'profile.tables[0].payload', takes: /keys of the payload/ },
    ],
    [
      'more keys of the payload than a function takes',
      {
        ...own,
        tables: [{ ...table, payload: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, 'c'])) }],
      },
      { name: 'profile.tables[0].payload', takes: /at most 50/ },
    ],
    [
      'no running word',
      { ...own, tables: [{ ...table, statuses: { ...statuses, running: [] } }] },
      { name: 'profile.tables[0].statuses.running', takes: /a claim writes/ },
    ],
    [
      'a misspelt role',
      { ...own, tables: [{ ...table, statuses: { ...statuses, canceled: 'x' } }] },
      { name: 'profile.tables[0].statuses.canceled', takes: /did you mean cancelled\?/ },
    ],
    [
      'an offset of another form',
      { ...own, tables: [{ ...table, timeZone: '+2' }] },
      { name: 'profile.tables[0].timeZone', takes: /an offset such as \+02:00/ },
    ],
    [
      'a unit that no time has',
      { ...own, tables: [{ ...table, epochUnit: 'us' }] },
      { name: 'profile.tables[0].epochUnit', takes: /^s or ms$/ },
    ],
    [
      'neither words nor times for its state',
      { ...own, tables: [{ ...table, statuses: undefined }] },
      { name: 'profile.tables[0].statuses', takes: /status words/ },
    ],
    [
      'a state that no time says',
      { ...own, tables: [{ ...table, stateColumns: { running: 'a', waiting: 'b' } }] },
      { name: 'profile.tables[0].stateColumns.waiting', takes: /running/ },
    ],
    [
      'a misspelt age column',
      { ...own, tables: [{ ...table, ageColumns: ['heartbeatat'] }] },
      { name: 'profile.tables[0].ageColumns', takes: /did you mean heartbeat_at\?/ },
    ],
    [
      'a bad policy',
      { ...own, tables: [{ ...table, policy: { heartbeatMs: 'often' } }] },
      { name: 'profile.tables[0].policy.heartbeatMs', takes: /whole number/ },
    ],
    [
      'an events table without its column',
      { ...own, tables: [{ ...table, teamEvents: { table: 'e', jobIdColumn: 'j' } }] },
      { name: 'profile.tables[0].teamEvents.dataColumn', takes: /text/ },
    ],
    [
      'an index over nothing',
      { ...own, tables: [{ ...table, documentIndexes: [{ name: 'i', columns: [] }] }] },
      { name: 'profile.tables[0].documentIndexes[0].columns', takes: /list of columns/ },
    ],
  ])('OPS-8 with %s is refused by the name of the field', (_, profile, { name, takes }) => {
    expect(problemsOf(profile)).toEqual([
      expect.objectContaining({ name: `${name} in the config file`, takes: expect.stringMatching(takes) }),
    ])
  })

  it('OPS-8 tells all that is wrong at once', () => {
    expect(problemsOf({ nam: 'x', tables: [{}] }).map(({ name }) => name)).toEqual([
      'profile.nam in the config file',
      'profile.name in the config file',
      'profile.tables[0].table in the config file',
      'profile.tables[0].idType in the config file',
      'profile.tables[0].statuses in the config file',
    ])
  })
})
