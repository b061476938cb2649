// What somebody gets who installs the package from npm: into an empty project, without this repository.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
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

describe('the core alone', () => {
  // 29 beside itself: pg brings 13, the HTTP stack 10. The goal is fewer than 25.
  it('is smaller than 1.5 MB packed, and brings no more packages than it did', async () => {
    expect(statSync(core).size).toBeLessThan(1.5 * 2 ** 20)
    expect(listPackages(await install(core)).length).toBeLessThanOrEqual(30)
  })

  it('says what to install where it has no database, and exits 2', async () => {
    const project = await install(core)
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
