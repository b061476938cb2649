// Every example can be started as its README says, and uses nothing that an application could not.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const names = readdirSync(new URL('examples/', root), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const { scripts, dependencies } = JSON.parse(read('package.json'))
const known = new Set(['unstuck', '@unstuck/embedded', ...Object.keys(dependencies)])

describe.each(names)('examples/%s', (name) => {
  it('is started by the one command of its README', () => {
    const [, script = ''] = /^npm run (example:\w+)$/m.exec(read(`examples/${name}/README.md`)) ?? []
    expect(scripts[script]).toContain(`node examples/${name}/start.mjs`)
    expect(read('examples/README.md')).toContain(`\`npm run ${script}\``)
    expect(existsSync(new URL(`test/repository/examples/${name}.test.ts`, root))).toBe(true)
  })

  it('imports unstuck by its public names only', () => {
    const files = readdirSync(new URL(`examples/${name}/`, root)).filter((file) => file.endsWith('.mjs'))
    expect(files).not.toEqual([])
    const imports = files.flatMap((file) =>
      [...read(`examples/${name}/${file}`).matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from),
    )
    for (const from of imports) {
      const [, relative, module = ''] = /^(\.\.?\/[\w-]+\.mjs$)|^((?:@[\w-]+\/)?[\w-]+)/.exec(from) ?? []
      expect(relative !== undefined || from.startsWith('node:') || known.has(module) ? null : from).toBeNull()
    }
  })
})
