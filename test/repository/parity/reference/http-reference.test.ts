import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { scopes } from '../../../../src/commands/actor.ts'
import { commandRules } from '../../../../src/commands/permissions.ts'
import { describeApi, renderHttpReference } from '../../../../src/http/openapi/http-reference.ts'

const read = (path: string) => readFileSync(new URL(`../../../../docs/${path}`, import.meta.url), 'utf8')

describe('docs/reference/http.md', () => {
  it('OPS-8 is what `npm run docs:generate` makes from the contract', () => {
    expect(read('reference/http.md')).toBe(renderHttpReference())
  })

  it('OPS-8 every route of /v1 is guarded by a command of the table, or open on purpose', () => {
    const open = ['readMe', 'beginSession', 'endSession', 'healthz', 'readyz']
    const unguarded = [...renderHttpReference().matchAll(/^\| `[A-Z]+ \S+` +\|.*\| `(\w+)` +\| – /gm)].map(
      ([, name]) => name,
    )
    expect(new Set(unguarded)).toEqual(new Set(open))
  })

  it('OPS-8 the guide names every scope', () => {
    const guide = read('guides/interfaces/http-api.md')
    for (const scope of scopes) expect(guide).toContain(`\`${scope}\``)
  })

  it('OPS-8 every command has a route, by its name or another', () => {
    const documented = JSON.stringify(describeApi())
    const hidden = ['planOperation', 'planRedrive', 'previewSweep', 'readEvents']
    const missing = Object.keys(commandRules).filter(
      (name) => !documented.includes(`"operationId":"${name}"`),
    )
    expect(new Set(missing)).toEqual(new Set(hidden))
  })
})
