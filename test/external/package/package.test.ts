// The package as installed from npm: into an empty project, without this repository.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { installProject, root, run } from './packed.ts'

const packed = inject('packed')

function listPackages(project: string): string[] {
  const lock = readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')
  return Object.keys((JSON.parse(lock) as { packages: object }).packages)
}

interface Manifest {
  dependencies: object
  peerDependencies: object
  exports: Record<string, string | { types: { import: string } }>
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
    project = await installProject(packed.home, [packed.core])
  })

  it('is smaller than 1.5 MB packed, and brings fewer than 25 packages', () => {
    expect(statSync(packed.core).size).toBeLessThan(1.5 * 2 ** 20)
    const beside = listPackages(project).filter((path) => path !== 'node_modules/unstuck')
    expect(beside.length).toBeLessThan(25)
  })

  it('has types that name no package which is not installed with it', () => {
    const folder = join(project, 'node_modules/unstuck')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const installed = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [] : [entry.types.import],
    )
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
    project = await installProject(packed.home, [packed.core, packed.embedded])
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

  it('publint has nothing to say, except that CommonJS gets types of its own', async () => {
    const { stdout } = await run(tool('publint'), ['run', packed.core, '--strict'], { cwd: root }).catch(
      (error: unknown) => error as { stdout: string },
    )
    const said = stdout.split('\n').filter((line) => /^\d+\. |^(?:Warnings|Suggestions):/.test(line))
    // The package has no default import, which is what would be ambiguous.
    expect(said).toEqual([expect.stringContaining('types.require types is interpreted as CJS')])
  })

  it('are-the-types-wrong finds nothing wrong', async () => {
    // Node 20.19 and newer `require` an ES module, and the types say that it can be.
    const ignored = ['--ignore-rules', 'false-cjs', 'cjs-resolves-to-esm']
    const { stdout } = await run(tool('attw'), [packed.core, ...ignored], { cwd: root })
    expect(stdout).toContain('No problems found')
  })
})

describe.each(['core', 'embedded'] as const)('published as %s', (name) => {
  it('npm accepts it, and its registry page has what it shows', async () => {
    const folder = packed.folders[name]
    const args = ['publish', '--dry-run', '--json', '--tag', 'next']
    const { stdout } = await run('npm', args, { cwd: folder })
    expect(JSON.stringify(JSON.parse(stdout))).toContain('README.md')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
    for (const field of ['description', 'license', 'homepage', 'bugs', 'repository', 'types'])
      expect(manifest).toHaveProperty(field)
    for (const field of ['scripts', 'devDependencies', 'workspaces'])
      expect(manifest).not.toHaveProperty(field)
    expect(readdirSync(folder)).toContain('LICENSE')
  })

  it('every link of its README leads somewhere without the repository around it', () => {
    const readme = readFileSync(join(packed.folders[name], 'README.md'), 'utf8')
    const targets = [...readme.matchAll(/\]\(([^)\s]+)|\b(?:href|src)="([^"]+)"/g)].map(
      (m) => m[1] ?? m[2] ?? '',
    )
    expect(targets.filter((target) => !/^(?:https:\/\/|#)/.test(target))).toEqual([])
    if (name === 'core') expect(targets.length).toBeGreaterThan(40)
  })
})
