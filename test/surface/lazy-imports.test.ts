// What a process pays for only if it asks for it.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))

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

it('SEE-2 importing the package loads neither prom-client nor OpenTelemetry', async () => {
  const { imported } = await run(`await import('dist/index.js')`)
  expect(imported.some((url) => url.endsWith('/dist/unstuck.js'))).toBe(true)
  expect(packages(imported)).toEqual([])
})

it('SEE-2 SEE-4 each is loaded when it is asked for', async () => {
  const events = '{ on: () => () => {} }'
  const metrics = await run(
    `const { createMetrics } = await import('dist/observe/metrics.js')
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
    for (const folder of ['observe', 'errors', 'job'])
      cpSync(join(dist, folder), join(elsewhere, folder), { recursive: true })
    cpSync(join(dist, '../package.json'), join(elsewhere, 'package.json'))
    const { stdout } = await run(
      `const { openTracing } = await import('dist/observe/tracing.js')
       const { openOtelMetrics } = await import('dist/observe/otel-metrics.js')
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

it('OPS-1 no command but serve loads the HTTP API', async () => {
  const { imported } = await run(
    `const { createProgram } = await import('dist/cli/program.js')
     createProgram()`,
  )
  expect(imported.some((url) => url.endsWith('/dist/cli/commands/serve.js'))).toBe(true)
  expect(packages(imported)).toEqual([])
  const http = await run(`await import('dist/http/serve.js')`)
  expect(packages(http.imported)).toEqual(expect.arrayContaining(['hono', 'zod', 'jose']))
})
