import { describe, expect, it } from 'vitest'
import { extendProfile } from '../extend-profile.ts'
import { draftExtension } from './draft-extension.ts'
import { inferProfile } from './infer-profile.ts'
import { nearestDocument, possibleDocument } from './nearest-document.ts'
import type { ShapeColumn, TableShape } from './table-shape.ts'

const column = (type: string, fields: Partial<ShapeColumn> = {}): ShapeColumn => ({
  type,
  isNullable: true,
  isGenerated: false,
  words: null,
  defaultWord: null,
  ...fields,
})
const text = column('text')
const time = column('timestamp with time zone')
const never = { isNullable: false }
const shapeOf = (table: string, columns: TableShape['columns'], idType = 'uuid'): TableShape => ({
  schema: 'public',
  table,
  primaryKey: ['id'],
  partitionColumns: [],
  columns: { id: column(idType, never), created_at: column('timestamp with time zone', never), ...columns },
})

function draft(shape: TableShape, words: string[] = []) {
  const document = nearestDocument(shape)
  const inferred = inferProfile(shape, words)
  if (document === null || 'problem' in inferred) throw new Error('it is not near to any document')
  const drafted = draftExtension(document, shape, inferred.table, words)
  return drafted && { profile: document.profile, ...drafted }
}

const executor = {
  status: text,
  locked_at: time,
  locked_by: text,
  attempts: column('integer'),
  last_error: text,
}
const embedding = { status: text, lock_owner: text, lock_until: time, attempts: column('integer') }
const converter = {
  status: text,
  leased_by: text,
  attempt_count: column('integer'),
  retry_after: time,
  error_message: text,
}
const clip = { status: text, last_heartbeat_at: time, attempt_count: column('integer') }

describe('nearestDocument', () => {
  it.each([
    ['executor_jobs', executor, 'executor'],
    ['ExecutorJob', executor, 'executor'],
    ['app_executor_jobs', executor, 'executor'],
    ['EmbeddingJobs', embedding, 'embedding'],
    ['jobs', clip, 'clip'],
    ['asr_jobs', clip, 'clip'],
    ['import_jobs', executor, undefined],
    // Under another name, by columns that hardly any other table has.
    ['vector_tasks', embedding, 'embedding'],
    [
      'VectorTask',
      { status: text, lockOwner: text, lockUntil: time, attempts: column('integer') },
      'embedding',
    ],
    ['pdf_work', converter, 'converter'],
    ['renders', { ...clip, next_earliest_run_at: time }, 'clip'],
    ['leases', { status: text, leased_by: text, attempt_count: column('integer') }, undefined],
    ['locks', { lock_owner: text, lock_until: time }, undefined],
    // Another table of this name, with locks that no document has.
    ['jobs', { status: text, locked_by: text, attempt_count: column('integer') }, undefined],
    ['video_jobs', clip, undefined],
    ['executor_jobs', { status: text, attempts: column('integer') }, undefined],
    ['conversion_jobs', { leased_by: text, retry_after: time }, undefined],
  ])('OPS-13 %s is recognised by name and columns', (table, columns, profile) => {
    expect(nearestDocument(shapeOf(table, columns))?.profile).toBe(profile)
  })
})

describe('possibleDocument', () => {
  it('OPS-13 a table with every column of the executor may be it, and one that is recognised is not asked about', () => {
    const typed = { ...executor, type: text }
    expect(possibleDocument(shapeOf('import_jobs', typed))?.profile).toBe('executor')
    expect(possibleDocument(shapeOf('import_jobs', executor))).toBeNull()
    expect(possibleDocument(shapeOf('executor_jobs', executor))).toBeNull()
    const { last_error: _, ...others } = typed
    expect(possibleDocument(shapeOf('import_jobs', others))).toBeNull()
  })
})

describe('draftExtension', () => {
  it('OPS-13 nothing differs in the table of the document', () => {
    expect(draft(shapeOf('executor_jobs', { ...executor, type: column('text', never) }))).toMatchObject({
      profile: 'executor',
      differences: {},
    })
  })

  it('OPS-13 words that the column takes, and words in rows, replace the document’s', () => {
    const words = ['pending', 'processing', 'done', 'failed', 'paused']
    const checked = { ...embedding, status: column('text', { words }) }
    expect(draft(shapeOf('embedding_jobs', checked))?.differences).toEqual({
      statuses: { succeeded: 'done' },
      ignoredStatuses: ['paused'],
    })
    expect(draft(shapeOf('embedding_jobs', embedding), ['queued'])?.differences).toEqual({
      statuses: { waiting: 'queued' },
    })
    const both = {
      ...executor,
      status: column('text', { words: ['queued', 'running', 'succeeded', 'dead'] }),
    }
    expect(draft(shapeOf('executor_jobs', both))?.differences.statuses).toEqual({ running: ['running'] })
  })

  it('OPS-13 a column that the engine cannot use stays the table’s, and another one is added', () => {
    const odd = { ...embedding, result: text, createdAt: time, lastError: text }
    const shape = shapeOf('EmbeddingJob', odd)
    const { created_at: _, ...columns } = shape.columns
    const drafted = draft({ ...shape, columns })
    expect(drafted?.differences.columns).toEqual({
      result: 'unstuck_result',
      created_at: 'unstuck_created_at',
      error_reason: 'lastError',
    })
  })

  it('OPS-13 the column of error texts is found in another case, and left out if there is none', () => {
    const { last_error: _, ...columns } = executor
    const camel = shapeOf('executor_jobs', { ...columns, lastError: text })
    expect(draft(camel)?.differences).toMatchObject({ lastError: { column: 'lastError' } })
    expect(draft(shapeOf('executor_jobs', columns))?.differences).toMatchObject({ lastError: null })
  })

  it('OPS-13 functions of the document take its type of ids', () => {
    expect(draft(shapeOf('executor_jobs', executor, 'bigint'))).toBeNull()
    expect(draft(shapeOf('embedding_jobs', embedding, 'bigint'))?.differences).toEqual({ idType: 'bigint' })
  })

  it('OPS-13 the second table of a document keeps its type and stage', () => {
    const drafted = draft(shapeOf('asr_jobs', clip))
    expect(drafted?.differences).toEqual({
      table: 'asr_jobs',
      defaultType: 'asr',
      policy: { defaultStage: 'asr' },
    })
    const tables = [drafted?.differences ?? {}] as [object]
    expect(extendProfile({ name: 'x', extends: 'clip', tables }).tables).toMatchObject([
      { attachment: 'asr_jobs', table: 'asr_jobs', defaultType: 'asr', policy: { defaultStage: 'asr' } },
    ])
  })
})
