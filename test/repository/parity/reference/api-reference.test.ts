import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../../../', import.meta.url)
const page = readFileSync(new URL('docs/reference/api.md', root), 'utf8')
const { renderApiReference } = (await import(new URL('scripts/docs/api-reference.mjs', root).href)) as {
  renderApiReference: () => string
}

describe('docs/reference/api.md', () => {
  it('is what the types and their comments render; `npm run docs:generate` writes it anew', () => {
    expect(page).toBe(renderApiReference())
  })

  it('has a heading for every method of the front door', () => {
    for (const name of [
      'handle',
      'enqueue',
      'enqueueMany',
      'recurring',
      'start',
      'stop',
      'on',
      'drain',
      'runOnce',
    ])
      expect(page).toContain(`\n### ${name}\n`)
  })

  it('has signatures, not the names of their types', () => {
    expect(page).not.toMatch(/\b\w+Method</)
    expect(page).toContain('\nenqueueAndWait<Type extends JobType<Jobs>>(\n  job: ')
  })

  it('says of every option and every field of a job what it is', () => {
    const fields = page.slice(0, page.indexOf('\n## Events\n')).split('\n')
    expect(fields.filter((line) => /^\| `\w+\??` \| .* \|\s*\|$/.test(line))).toEqual([])
  })

  it('says of every method what it does', () => {
    expect(page).not.toMatch(/```\n\n### /)
  })
})
