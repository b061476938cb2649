// The quickstart, compiled and run in empty projects as people have them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { compile, installProject, readQuickstart, run, toCommonJs } from './packed.ts'

const packed = inject('packed')

const { DATABASE_URL: _, UNSTUCK_DATABASE_URL: __, ...env } = process.env

/** Without a database configured, the embedded one is started and installed. */
async function runMain(project: string, folder: string): Promise<void> {
  const { stdout } = await run(process.execPath, [join(folder, 'main.js')], { cwd: project, env })
  expect(stdout).toContain('completed')
  expect(stdout).toContain('Hello Ana')
}

const required = `const { unstuck } = require('unstuck')
const { memory } = require('unstuck/memory')
const q = unstuck({ store: memory() })
q.handle('greet', async () => {})
q.enqueue({ type: 'greet' }).then(() => q.drain()).then(console.log)
`

const install = (type: 'module' | 'commonjs') =>
  installProject(packed.home, [packed.core, packed.embedded, '@types/node@20'], type)

it('compiles and runs in an ESM project with every strict option, libraries included', async () => {
  const project = await install('module')
  const options = { module: 'nodenext', exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
  const entries = ['memory', 'profiles', 'pg-boss', 'http', 'client'].map(
    (name) => `import 'unstuck/${name}'\n`,
  )
  await runMain(project, await compile(project, `${entries.join('')}${readQuickstart()}`, options))
})

it('compiles and runs in a CommonJS project, under module node16 and nodenext, and is required', async () => {
  const project = await install('commonjs')
  writeFileSync(join(project, 'required.js'), required)
  const { stdout } = await run(process.execPath, ['required.js'], { cwd: project, env })
  expect(stdout).toContain('{ completed: 1 }')
  const program = `import 'unstuck/memory'\n${toCommonJs(readQuickstart())}`
  await compile(project, program, { module: 'nodenext' })
  await runMain(project, await compile(project, program, { module: 'node16' }))
})
