// Modules that a process loads only on demand.
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url))

/** Prints the address of everything that the program imports. */
const hook = `
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context)
    process._rawDebug(found.url)
    return found
  }`
const listImports = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module'
  register('data:text/javascript,${encodeURIComponent(hook)}')`)}`

async function run(program: string, folder = dist): Promise<{ stdout: string; imported: string[] }> {
  const source = program.replaceAll('dist/', pathToFileURL(folder).href)
  const args = ['--import', listImports, '--input-type=module', '--eval', source]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  return { stdout: stdout.trim(), imported: stderr.split('\n') }
}

const packages = (imported: string[]) =>
  ['prom-client', '@opentelemetry/api', 'hono', '@hono', 'zod', 'jose'].filter((name) =>
    imported.some((url) => url.includes(`/node_modules/${name}/`)),
  )

const BEFORE_PG = 'store/postgres/connection/navigator-for-pg.js'
/** Chunks with all modules that an application loads (ADR 0017), and the module that has to run before pg does. */
const applicationFiles = [
  'application.js',
  'children.js',
  'deployment.js',
  'rolldown-runtime.js',
  BEFORE_PG,
  'vocabulary.js',
]

const ownFiles = (imported: string[]) =>
  [...new Set(imported.flatMap((url) => url.split('/dist/').slice(1)))]
    .filter((file) => existsSync(join(dist, file)))
    .sort()

it('SEE-2 importing the package loads neither prom-client nor OpenTelemetry', async () => {
  const { imported } = await run(`await import('dist/index.js')`)
  expect(imported.some((url) => url.endsWith('/dist/application.js'))).toBe(true)
  expect(packages(imported)).toEqual([])
})

it('WORK-1 an application loads few files of ours', async () => {
  const { imported } = await run(`await import('dist/index.js')`)
  expect(ownFiles(imported)).toEqual([...applicationFiles, 'index.js'].sort())
})

/** Runs a program as under Node 20, which has no `navigator`, and lists the modules of its fetch. */
const fetchIn = (program: string) =>
  `delete globalThis.navigator
   ${program}
   const fetchModules = process.moduleLoadList.filter((name) => name.includes('undici'))`

it('WORK-1 pg loads no fetch where there is no navigator, and the application sees none afterwards', async () => {
  const { stdout, imported } = await run(
    `${fetchIn(`await import('dist/index.js')`)}
     console.log(fetchModules.length, 'navigator' in globalThis)`,
  )
  expect(imported.some((url) => url.includes('/node_modules/pg/'))).toBe(true)
  expect(stdout).toBe('0 false')
})

it('LEASE-9 nor does the heartbeat thread', async () => {
  const thread = `${fetchIn(`await import('dist/compose/heartbeat-thread.js')`)}
    const { parentPort } = await import('node:worker_threads')
    parentPort.postMessage({ fetchModules })`
  const { stdout } = await run(
    `const { Worker } = await import('node:worker_threads')
     const workerData = { databaseUrl: 'postgres://127.0.0.1:1/none', schema: 'unstuck', policy: {}, intervalMs: 1000 }
     const source = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(thread)})
     const thread = new Worker(new URL(source), { workerData, execArgv: [] })
     const message = await new Promise((resolve) => {
       thread.on('message', (sent) => sent.fetchModules && resolve(sent))
     })
     console.log(message.fetchModules.length)
     await thread.terminate()`,
  )
  expect(stdout).toBe('0')
})

it('LEASE-9 the heartbeat thread loads two files of ours, and of others the driver alone', async () => {
  const { stdout, imported } = await run(
    `const { Worker } = await import('node:worker_threads')
     const workerData = { databaseUrl: 'postgres://127.0.0.1:1/none', schema: 'unstuck', policy: {}, intervalMs: 1000 }
     const thread = new Worker(new URL('dist/compose/heartbeat-thread.js'), { workerData, execArgv: process.execArgv.slice(0, 2) })
     const { kind } = await new Promise((resolve) => thread.once('message', resolve))
     console.log(kind)
     await thread.terminate()`,
  )
  expect(stdout).toBe('failed')
  expect(ownFiles(imported)).toEqual(['compose/heartbeat-thread.js', BEFORE_PG])
  expect(imported.some((url) => url.includes('/node_modules/pg/'))).toBe(true)
  expect(imported.some((url) => url.includes('/node_modules/croner/'))).toBe(false)
})

it('SEE-2 SEE-4 each is loaded when it is asked for', async () => {
  const events = '{ on: () => () => {} }'
  const metrics = await run(
    `const { createMetrics } = await import('dist/observe/metrics/metrics.js')
     await createMetrics({ events: ${events}, table: 'jobs' })`,
  )
  expect(packages(metrics.imported)).toEqual(['prom-client'])
  const tracing = await run(
    `const { openTracing } = await import('dist/observe/tracing.js')
     console.log(await openTracing() !== null)`,
  )
  expect(tracing.stdout).toBe('true')
  expect(packages(tracing.imported)).toEqual(['@opentelemetry/api'])
})

it('SEE-4 where OpenTelemetry is not installed there is no tracing and no error', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'unstuck-'))
  try {
    for (const name of ['observe', ...applicationFiles])
      cpSync(join(dist, name), join(elsewhere, name), { recursive: true })
    cpSync(join(dist, '../package.json'), join(elsewhere, 'package.json'))
    mkdirSync(join(elsewhere, 'node_modules'))
    for (const name of ['pg', 'croner'])
      symlinkSync(join(dist, '../node_modules', name), join(elsewhere, 'node_modules', name))
    const { stdout } = await run(
      `const { openTracing } = await import('dist/observe/tracing.js')
       const { openOtelMetrics } = await import('dist/observe/metrics/otel-metrics.js')
       console.log(await openTracing(), await openOtelMetrics({ events: {}, table: 'jobs' }))`,
      `${elsewhere}/`,
    )
    expect(stdout).toBe('null null')
  } finally {
    rmSync(elsewhere, { recursive: true })
  }
})

it('OPS-10 a worker that has no delivery to make loads no HTTP', async () => {
  const { imported } = await run(`await import('dist/index.js')`)
  expect(imported).toContain('node:net')
  // Node's fetch comes along with it: 7 MB of every worker.
  expect(imported.filter((url) => /^node:https?$/.test(url))).toEqual([])
})

it('WORK-1 a worker loads no installer', async () => {
  const { imported } = await run(`await import('dist/index.js')`)
  expect(imported.filter((url) => /\/(migrate-up|scan-database|read-facts)\.js$/.test(url))).toEqual([])
  const installer = await run(
    `const { createInstaller, loadConfig } = await import('dist/index.js')
     await createInstaller(loadConfig({ env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } })).up().catch(() => {})`,
  )
  expect(installer.imported.some((url) => url.endsWith('/migrate-up.js'))).toBe(true)
})

/** Modules that define a command. */
const commandFiles = readdirSync(join(dist, 'cli'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.js'))
  .filter((file) => /export function define/.test(readFileSync(join(dist, 'cli', file), 'utf8')))
  .map((file) => `cli/${file.replaceAll('\\', '/')}`)

it.each([
  [['--help'], []],
  [['--version'], []],
  [['prune', '--help'], ['workers/prune.js']],
  [['help', 'why'], ['jobs/why.js']],
])('OPS-8 unstuck %j loads no command but the one it names', async (argv, own) => {
  const { imported } = await run(
    `process.argv = [process.execPath, 'unstuck', ...${JSON.stringify(argv)}]
     await import('dist/cli/main.js')`,
  )
  const commands = ownFiles(imported).filter((file) => commandFiles.includes(file))
  expect(commands).toEqual(own.map((file) => `cli/${file}`))
  expect(imported.some((url) => url.includes('/node_modules/commander/'))).toBe(true)
  expect(commandFiles.length).toBeGreaterThan(20)
  expect(packages(imported)).toEqual([])
  // The driver is most of what is left.
  if (own.length === 0) expect(imported.filter((url) => url.includes('/node_modules/pg/'))).toEqual([])
})

it('OPS-8 unstuck status loads neither the worker nor fetch, which take a third of its time', async () => {
  const { stdout, imported } = await run(
    `process.argv = [process.execPath, 'unstuck', 'status', '--database-url', 'postgres://127.0.0.1:1/none']
     await import('dist/cli/main.js')
     console.log(process.exitCode, process.moduleLoadList.filter((name) => name.includes('undici')).length)
     process.exitCode = 0`,
  )
  expect(stdout).toBe('3 0')
  expect(ownFiles(imported)).toContain('deployment.js')
  expect(ownFiles(imported)).not.toContain('application.js')
  expect(imported.some((url) => url.includes('/node_modules/pg/'))).toBe(true)
})

it('OPS-1 no command but serve loads the HTTP API', async () => {
  const { imported } = await run(
    `const { createProgram } = await import('dist/cli/program.js')
     await createProgram()`,
  )
  expect(imported.some((url) => url.endsWith('/dist/cli/server/serve.js'))).toBe(true)
  expect(packages(imported)).toEqual([])
  const http = await run(`await import('dist/http/serve.js')`)
  expect(packages(http.imported)).toEqual(expect.arrayContaining(['hono', 'zod', 'jose']))
})
