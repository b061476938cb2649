// A project with the SDK of OpenTelemetry: the standard variables alone export the metrics of a reaper and of a worker.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { converterProfile } from '../../../src/profile/converter.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { startCommand } from '../../cli/support/run-command.ts'
import { converterTables } from '../../support/tables/converter-tables.ts'
import { createTestDatabase } from '../../support/test-database.ts'

const project = fileURLToPath(new URL('otel', import.meta.url))
const handlers = fileURLToPath(new URL('../../surface/fixtures/handlers.mjs', import.meta.url))

/** Collects what exporters send, as OTLP over HTTP. Names and labels are plain text in it. */
async function openCollector() {
  let received = ''
  const server = createServer((request, response) => {
    request.setEncoding('latin1').on('data', (part: string) => {
      received += part
    })
    request.on('end', () => response.writeHead(200).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received: () => received }
}

it('SEE-2 REAP-10 a reaper and a worker export their metrics by OTLP, with the names of the documents', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  await database.pool.query(converterTables)
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: converterProfile })
  await database.pool.query(
    `insert into conversion_jobs (id, status, leased_by, lease_expires_at) values
       ('a', 'processing', 'gone', now() - interval '1 h')`,
  )
  for (const [args, names] of [
    [['reaper'], ['reaper.requeues', 'reaper.scan_duration_ms', 'unstuck.jobs.overdue', 'conversion_jobs']],
    [
      ['worker', handlers],
      ['unstuck.jobs.running', 'reaper.scan_duration_ms'],
    ],
  ] as const) {
    const collector = await openCollector()
    const env = {
      DATABASE_URL: database.url,
      UNSTUCK_PROFILE: 'converter',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_METRIC_EXPORT_TIMEOUT: '400',
      OTEL_SERVICE_NAME: 'convert-service',
    }
    const running = startCommand([...args], env, project)
    await running.said(args[0] === 'reaper' ? 'reaper:requeued' : 'worker:started')
    const missing = () => [...names, 'convert-service'].filter((name) => !collector.received().includes(name))
    await expect.poll(missing).toEqual([])
    running.kill('SIGTERM')
    expect(await running.result).toMatchObject({ exitCode: 0, stderr: '' })
  }
})
