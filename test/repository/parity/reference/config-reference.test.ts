import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { renderConfigReference } from '../../../../src/config/index.ts'

const page = readFileSync(new URL('../../../../docs/reference/config.md', import.meta.url), 'utf8')

describe('docs/reference/config.md', () => {
  it('OPS-8 is what the table of variables renders; `npm run docs:generate` writes it anew', () => {
    expect(page).toBe(renderConfigReference())
  })
})
