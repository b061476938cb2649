// The package as installed from npm: into an empty project, without this repository.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'unstuck-package-'))
let core = ''
let embedded = ''

beforeAll(async () => {
  core = await pack(root)
  embedded = await pack(join(root, 'embedded'))
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

async function pack(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', home], {
    cwd: folder,
  })
  const [packed] = JSON.parse(stdout) as [{ filename: string }]
  return join(home, packed.filename)
}

/** An empty project with these packages, and nothing of this repository on its path. */
async function install(...packages: string[]): Promise<string> {
  const project = mkdtempSync(join(home, 'project-'))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: project })
  return project
}

function listPackages(project: string): string[] {
  const lock = readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')
  return Object.keys((JSON.parse(lock) as { packages: object }).packages)
}

interface Manifest {
  dependencies: object
  peerDependencies: object
  exports: Record<string, { types?: string }>
}

/** The packages that these declarations name, and those they refer to. */
function listTypeImports(files: string[]): string[] {
  const seen = new Set(files)
  const packages = new Set<string>()
  for (const file of seen) {
    const text = readFileSync(file, 'utf8')
    for (const [, target = ''] of text.matchAll(/(?:\bfrom|\bimport|\bimport\() ?['"]([^'"]+)['"]/g)) {
      if (target.startsWith('.')) seen.add(join(dirname(file), target.replace(/\.[jt]s$/, '.d.ts')))
      else packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target)
    }
  }
  return [...packages]
}

describe('the core alone', () => {
  let project = ''

  beforeAll(async () => {
    project = await install(core)
  })

  it('is smaller than 1.5 MB packed, and brings fewer than 25 packages', () => {
    expect(statSync(core).size).toBeLessThan(1.5 * 2 ** 20)
    const beside = listPackages(project).filter((path) => path !== 'node_modules/unstuck')
    expect(beside.length).toBeLessThan(25)
  })

  it('has types that name no package which is not installed with it', () => {
    const folder = join(project, 'node_modules/unstuck')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const installed = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]
    const entries = Object.values(manifest.exports).flatMap((entry) => entry.types ?? [])
    expect(entries.length).toBeGreaterThan(5)
    const named = listTypeImports(entries.map((entry) => join(folder, entry)))
    expect(named).toContain('zod')
    expect(named.filter((name) => !name.startsWith('node:') && !installed.includes(name))).toEqual([])
  })

  it('answers the contract of its HTTP API', async () => {
    writeFileSync(
      join(project, 'contract.js'),
      `import { createApp } from 'unstuck/http'
import { loadConfig } from 'unstuck'
const config = loadConfig({ env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' } })
const app = createApp({ config, isReadOnly: true, authorize: () => ({ name: 'test', kind: 'app', owner: null, scopes: [] }) })
console.log(await (await app.fetch(new Request('http://localhost/openapi.json'))).text())
await app.close()
`,
    )
    const { stdout } = await run(process.execPath, ['contract.js'], { cwd: project })
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', paths: { '/v1/jobs': {} } })
  })

  it('says what to install where it has no database, and exits 2', async () => {
    const { DATABASE_URL: _, UNSTUCK_DATABASE_URL: __, ...env } = process.env
    const failed = await run('npx', ['unstuck', 'demo', '--auto', '--no-tui'], { cwd: project, env }).then(
      () => null,
      (error: unknown) => error,
    )
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('@unstuck/embedded') })
  })
})

describe('with the embedded database', () => {
  let project = ''

  beforeAll(async () => {
    project = await install(core, embedded)
  })

  it('holds no tests and no sources', () => {
    const files = readdirSync(join(project, 'node_modules/unstuck'), { recursive: true, encoding: 'utf8' })
    expect(
      files.filter((file) => /\.test\.|conformance|\.tsx?$/.test(file) && !file.endsWith('.d.ts')),
    ).toEqual([])
  })

  it('runs the demo', async () => {
    const { stdout } = await run('npx', ['unstuck', 'demo', '--auto', '--no-tui', '--json'], { cwd: project })
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ lost: 0 })
  })

  it('runs a worker of ten lines, and a scan of its database that writes nothing', async () => {
    writeFileSync(
      join(project, 'worker.js'),
      `import { startPostgres } from '@unstuck/embedded'
import { execFileSync } from 'node:child_process'
import { unstuck } from 'unstuck'
const server = await startPostgres({ persistent: false })
execFileSync('npx', ['unstuck', 'migrate', 'up', '--database-url', server.url])
const q = unstuck({ databaseUrl: server.url })
q.handle('greet', async (job) => { console.log('hello ' + job.payload.name) })
await q.start()
await q.enqueue({ type: 'greet', payload: { name: 'Ada' } })
while ((await q.store.readHealth()).waiting > 0) await new Promise((resolve) => setTimeout(resolve, 50))
await q.stop()
console.log(execFileSync('npx', ['unstuck', 'scan', server.url], { encoding: 'utf8' }))
await server.stop()
`,
    )
    const { stdout } = await run(process.execPath, ['worker.js'], { cwd: project })
    expect(stdout).toContain('hello Ada')
    expect(stdout).toContain('Nothing was written')
  })
})

describe('what tools say of it', () => {
  const tool = (name: string) => join(root, 'node_modules/.bin', name)

  it('publint has nothing to say', async () => {
    const { stdout } = await run(tool('publint'), ['run', core, '--strict'], { cwd: root })
    expect(stdout).toContain('All good')
  })

  it('are-the-types-wrong finds nothing wrong', async () => {
    // With this profile it fails for whatever else than CommonJS and old resolution, which the package does not serve.
    const { stdout } = await run(tool('attw'), [core, '--profile', 'esm-only'], { cwd: root })
    expect(stdout).toContain('(ignored)')
  })
})
