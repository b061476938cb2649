import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../../../src/cli/program.ts'
import { renderCliReference } from '../../../../src/cli/reference/cli-reference.ts'
import { leafCommands, optionsOf, pathOf } from '../../../../src/cli/reference/command-tree.ts'

const page = readFileSync(new URL('../../../../docs/reference/cli.md', import.meta.url), 'utf8')

describe('docs/reference/cli.md', () => {
  it('OPS-8 is what the commands render; `npm run docs:generate` writes it anew', async () => {
    expect(page).toBe(await renderCliReference())
  })

  it('OPS-8 has every command and every option of the help', async () => {
    for (const command of leafCommands(await createProgram())) {
      expect(page).toContain(`\n### ${pathOf(command)}\n`)
      for (const { flags, long } of optionsOf(command))
        if (long !== '--help') expect(page).toContain(`\`${flags}\``)
    }
  })

  it('OPS-8 says the same on every machine', () => {
    expect(page).toContain('(default: your user name)')
    expect(page).not.toMatch(/\/home\/|\/root\//)
  })
})
