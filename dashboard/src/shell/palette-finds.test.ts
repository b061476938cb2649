import { describe, expect, it } from 'vitest'
import { findAll } from './palette-finds.ts'

const known = {
  queues: ['media', 'mail', '*'],
  types: ['run_asr', 'send_mail', 'send_mail'],
  workers: ['media-1:8c6c0ac1'],
}

const finds = (text: string) =>
  findAll(text, known).finds.map(({ kind, name, values }) => [kind, name, values?.['q'] ?? null])

describe('the command palette', () => {
  it('SEE-9 finds types, queues and workers by a part of their name', () => {
    expect(finds('MAIL')).toEqual([
      ['type', 'send_mail', 'type:send_mail'],
      ['queue', 'mail', 'queue:mail'],
    ])
    expect(finds('media-1:8')).toEqual([['worker', 'media-1:8c6c0ac1', 'worker:media-1:8c6c0ac1']])
    expect(finds('media')).toEqual([
      ['queue', 'media', 'queue:media'],
      ['worker', 'media-1:8c6c0ac1', 'worker:media-1:8c6c0ac1'],
    ])
  })

  it('SEE-9 finds pages, a job by its id, and takes a search as it is', () => {
    expect(finds('dead')).toEqual([['page', 'Dead letters', null]])
    expect(findAll('why 0198c1d4', known).finds[0]).toMatchObject({ kind: 'job', path: '/jobs/0198c1d4' })
    expect(finds('status:dead older:2h')).toEqual([
      ['search', 'status:dead older:2h', 'status:dead older:2h'],
    ])
    expect(finds('')).toContainEqual(['page', 'Queues', null])
  })

  it('SEE-7 says that it found nothing, and offers searches of all jobs', () => {
    expect(findAll('in voice', known)).toMatchObject({
      isNothing: true,
      finds: [{ values: { q: 'type:"in voice"' } }, { values: { q: 'owner:"in voice"' } }],
    })
    expect(findAll('mail', known).isNothing).toBe(false)
  })
})
