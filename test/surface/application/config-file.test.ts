import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ConfigValue } from '../../../src/config/index.ts'

const bin = fileURLToPath(new URL('../../../bin/unstuck.js', import.meta.url))
const handlers = fileURLToPath(new URL('../fixtures/handlers.mjs', import.meta.url))
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unstuck-config-'))
})
afterEach(() => rm(folder, { recursive: true }))

const write = (name: string, text: string) => writeFile(join(folder, name), text)

/** The command, started in the folder. */
function run(args: string[], env: Record<string, string> = {}) {
  return new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env } }
    const child = execFile(process.execPath, [bin, ...args], options, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

async function showConfig(env: Record<string, string> = {}): Promise<Map<string, ConfigValue>> {
  const { stdout } = await run(['config', '--json'], env)
  const { values } = JSON.parse(stdout) as { values: ConfigValue[] }
  return new Map(values.map((value) => [value.name, value]))
}

it('OPS-8 unstuck config shows what the config file of the folder sets, and that the environment wins over it', async () => {
  await write(
    'unstuck.config.mjs',
    "export default { schema: 'mine', maxPayloadBytes: 5, policy: { maxAttempts: 7, maxCrashes: 9 } }",
  )
  const values = await showConfig({ JOB_MAX_ATTEMPTS: '2' })
  expect(values.get('schema')).toMatchObject({ value: 'mine', source: 'file' })
  expect(values.get('maxPayloadBytes')).toMatchObject({ value: 5, source: 'file' })
  expect(values.get('policy.maxCrashes')).toMatchObject({ value: 9, source: 'file' })
  expect(values.get('policy.maxAttempts')).toMatchObject({ value: 2, source: 'env JOB_MAX_ATTEMPTS' })
})

it('OPS-8 UNSTUCK_CONFIG names another file, and is no setting that the config shows', async () => {
  await write('unstuck.config.mjs', "export default { schema: 'found' }")
  await write('other.cjs', "module.exports = { schema: 'named' }")
  const values = await showConfig({ UNSTUCK_CONFIG: 'other.cjs' })
  expect(values.get('schema')).toMatchObject({ value: 'named', source: 'file' })
  const { stderr } = await run(['config'], { UNSTUCK_CONFIG: 'other.cjs' })
  expect(stderr).toBe('')
})

it('OPS-8 a mistake in the config file stops every command with exit code 2 and the field that was meant', async () => {
  await write('unstuck.config.mjs', 'export default { workerConcurency: 3 }')
  const { exitCode, stderr } = await run(['status'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('did you mean workerConcurrency?')
})

it.each(['6', '31', 'two weeks', ''])(
  'OPS-2 unstuck worker does not start with EMBED_JOB_RETENTION_DAYS=%j',
  async (days) => {
    const { exitCode, stdout, stderr } = await run(['worker', handlers], {
      DATABASE_URL: 'postgres://localhost:1/none',
      EMBED_JOB_RETENTION_DAYS: days,
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('EMBED_JOB_RETENTION_DAYS')
    expect(stderr).toContain('from 7 to 30')
    expect(stdout).toBe('')
  },
)
