import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { JsonValue } from '../../job/job.ts'
import { sourceExists } from './source-exists.ts'

const parent = mkdtempSync(join(tmpdir(), 'unstuck-source-'))
const uploads = mkdtempSync(join(parent, 'uploads-'))
writeFileSync(join(uploads, 'invoice.pdf'), '%PDF')
writeFileSync(join(parent, 'secret.pdf'), '%PDF')
symlinkSync(join(parent, 'secret.pdf'), join(uploads, 'link.pdf'))
symlinkSync(join(uploads, 'invoice.pdf'), join(uploads, 'copy.pdf'))
afterAll(() => rmSync(parent, { recursive: true }))

describe('sourceExists', () => {
  const exists = (payload: JsonValue) => sourceExists(uploads)({ payload })

  it('OPS-1 finds the source of a job in the uploads, by its name or its whole path', async () => {
    expect(await exists({ source: 'invoice.pdf' })).toBe(true)
    expect(await exists({ source: join(uploads, 'invoice.pdf') })).toBe(true)
    expect(await exists({ source: 'copy.pdf' })).toBe(true)
  })

  it.each<[string, JsonValue]>([
    ['a file that is gone', { source: 'gone.pdf' }],
    ['a name that leads out', { source: '../secret.pdf' }],
    ['a link that leads out', { source: 'link.pdf' }],
    ['another absolute path', { source: join(parent, 'secret.pdf') }],
    ['the directory itself', { source: '.' }],
    ['an empty name', { source: '' }],
    ['a NUL', { source: 'invoice.pdf\0' }],
    ['no name', {}],
    ['a payload that is no object', ['invoice.pdf']],
    ['nothing', null],
  ])('OPS-1 does not find %s', async (_, payload) => {
    expect(await exists(payload)).toBe(false)
  })

  it('OPS-1 finds nothing where the directory is gone', async () => {
    expect(await sourceExists(join(parent, 'gone'))({ payload: { source: 'invoice.pdf' } })).toBe(false)
  })
})
