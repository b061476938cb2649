// Every command with --store: it works, or it says in one line what is not there and leaves with the code of a refusal.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createProgram } from '../../../src/cli/program.ts'
import { leafCommands, pathOf } from '../../../src/cli/reference/command-tree.ts'
import { exitCodes } from '../../../src/errors/index.ts'
import { installNeo4j, removeNeo4j } from '../../../src/store/neo4j/install.ts'
import { type Neo4jJobStore, openDriver, openNeo4jStore } from '../../../src/store/neo4j/open-neo4j-store.ts'
import { runCommand, startCommand } from '../../cli/support/run-command.ts'
import { clear } from './server/neo4j-harness.ts'

const handlers = fileURLToPath(new URL('fixtures/chaos-handlers.mjs', import.meta.url))
const env = { EMBED_JOB_RETENTION_DAYS: '14', REAPER_INTERVAL_SEC: '1' }
const store = ['--store', inject('neo4jUrl')]
const why = ['--reason', 'test']

/** Arguments of a command, and its output. Words with a `$` are known when the test runs. */
const working: Record<string, [args: string[], says: string]> = {
  'migrate up': [[], 'installed in Neo4j, label EmbeddingJob'],
  'migrate status': [[], 'Up to date.'],
  mode: [[], 'EmbeddingJob  reap'],
  reap: [['--once'], 'EmbeddingJob: 0 requeued'],
  prune: [[], 'EmbeddingJob: deleted 0 jobs'],
  status: [[], 'EmbeddingJob'],
  stuck: [[], 'no stuck jobs'],
  config: [[], 'databaseUrl'],
  top: [[], 'EmbeddingJob  waiting'],
  events: [[], 'failed'],
  enqueue: [['embed', '{"page": 1}'], 'in EmbeddingJob'],
  'jobs list': [[], '$dead'],
  'jobs get': [['$dead'], 'GONE'],
  'jobs export': [[], '$dead'],
  why: [['$waiting'], '$waiting'],
  'queues list': [[], 'embed'],
  'queues pause': [['embed', ...why], 'embed'],
  'queues resume': [['embed'], 'embed'],
  limits: [[], 'provider'],
  'breaker status': [[], 'provider'],
  'breaker hold': [['provider', ...why], 'provider'],
  'breaker resume': [['provider', ...why], 'provider'],
  'schedules list': [[], 'nightly'],
  'schedules delete': [['nightly'], 'nightly'],
  'workers list': [[], 'worker-1'],
  'workers drain': [['worker-1', ...why], 'worker-1'],
  'tokens create': [['ci', '--role', 'viewer'], 'unstuck_'],
  'tokens list': [[], 'ci'],
  'tokens revoke': [['ci'], 'ci is revoked'],
  'dead list': [[], 'GONE'],
  'dead show': [['$cause'], '$dead'],
  'dead mark': [['$cause', '--as', 'investigating'], 'is investigating'],
  'dead discard': [['$other', '--yes', ...why], '1 '],
  'jobs retry': [['$dead', ...why], 'retried: '],
  'jobs cancel': [['$dead', ...why], 'cancelled'],
  'jobs discard': [['$dead', '--yes', ...why], 'discarded'],
  drill: [['--sweep', '--yes', '--budget', '40s'], 'PASS'],
  detach: [[], 'removed from Neo4j'],
  'migrate down': [[], 'nothing is installed in Neo4j'],
}

const refused: Record<string, [args: string[], says: string][]> = {
  'migrate sql': [[[], 'no attach']],
  'migrate down': [[['--purge'], 'not purged']],
  scan: [[[], 'no attach']],
  init: [[[], 'no attach']],
  attach: [
    [['--plan'], 'no attach'],
    [['--roles'], 'no attach'],
    [[], 'no attach'],
  ],
  detach: [[['--table', 'embedding_jobs'], 'no attach']],
  mode: [[['enforce'], 'no enforce']],
  'jobs cancel': [[['--where', 'type:embed', '--yes', ...why], 'no operations']],
  'dead redrive': [[['--all', '--yes', ...why], 'no operations']],
  'queues limit': [[['embed', '--concurrency', '2', ...why], 'no groups']],
  'queues trends': [[[], 'no trends']],
  'webhooks add': [[['https://example.com/hook'], 'no webhooks']],
  'webhooks list': [[[], 'no webhooks']],
  'webhooks remove': [[['a'], 'no webhooks']],
  'webhooks enable': [[['a'], 'no webhooks']],
  'webhooks disable': [[['a'], 'no webhooks']],
  'webhooks deliveries': [[[], 'no webhooks']],
  'webhooks redeliver': [[['1'], 'no webhooks']],
}

/** Until SIGTERM. */
const lasting: Record<string, [args: string[], says: string]> = {
  worker: [[handlers], ''],
  reaper: [[], 'EmbeddingJob'],
  serve: [['--port', '0'], 'http://127.0.0.1'],
}

describe('the command line with --store', () => {
  let folder: string
  let jobs: Neo4jJobStore
  const known = new Map<string, string>()

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unstuck-cli-'))
    const { driver } = openDriver(inject('neo4jUrl'))
    await clear(driver, 'EmbeddingJob')
    await installNeo4j({ driver })
    await driver.close()
    jobs = await openNeo4jStore({ url: inject('neo4jUrl') })
    await jobs.enqueueJobs([{ type: 'embed' }, { type: 'embed' }])
    const [dead, other] = await jobs.claimJobs({ workerId: 'worker-1', queues: ['embed'], limit: 2 })
    if (dead === undefined || other === undefined) throw new Error('there was no job to claim')
    await jobs.failJobs([
      { ...dead, code: 'GONE', isRetryable: false },
      { ...other, code: 'LOST', isRetryable: false },
    ])
    const [waiting] = await jobs.enqueueJobs([{ type: 'embed', delayMs: 3_600_000 }])
    const { groups } = await jobs.groupDeadJobs()
    known.set('$dead', dead.jobId).set('$waiting', waiting?.jobId ?? '')
    const causeOf = (code: string) => groups.find((group) => group.code === code)?.causeId ?? ''
    known.set('$cause', causeOf('GONE')).set('$other', causeOf('LOST'))
    await jobs.writeBreaker('provider', {})
    await jobs.takeTokens([{ key: 'provider', ratePerS: 1, burst: 5 }])
    const nightly = { name: 'nightly', cron: '0 3 * * *', timezone: 'UTC', job: { type: 'embed' } }
    await jobs.writeSchedule({ ...nightly, nextRunAt: new Date(Date.now() + 86_400_000) })
    const idle = { phase: 'running', concurrency: 1, running: 0, reportMs: 60_000 } as const
    await jobs.reportWorker({ workerId: 'worker-1', types: ['embed'], ...idle })
  })
  afterAll(async () => {
    const { driver } = openDriver(inject('neo4jUrl'))
    await clear(driver, 'EmbeddingJob')
    await driver.close()
    await jobs.close()
    await rm(folder, { recursive: true, force: true })
  })

  const filled = (text: string) => known.get(text) ?? text
  const line = (command: string, args: string[]) => [...command.split(' '), ...args.map(filled), ...store]

  it('OPS-8 knows of every command that takes --store', async () => {
    const all = leafCommands(await createProgram())
      .filter(({ options }) => options.some(({ long }) => long === '--store'))
      .map((command) => pathOf(command).replace('unstuck ', ''))
    const tried = new Set(['doctor', ...[working, refused, lasting].flatMap(Object.keys)])
    expect([...tried].toSorted()).toEqual(all.toSorted())
  })

  it.each(
    Object.entries(refused).flatMap(([command, cases]) => cases.map((one) => [command, ...one] as const)),
  )('OPS-8 %s %j is refused in one line: %s', async (command, args, says) => {
    const { exitCode, stdout, stderr } = await runCommand(line(command, args), env, folder)
    expect({ exitCode, stdout }).toEqual({ exitCode: exitCodes.refused, stdout: '' })
    expect(stderr.split('\n')[0]).toContain(says)
    expect(stderr).not.toContain(' at ')
    expect(await readdir(folder)).toEqual([])
  })

  it.each(Object.entries(lasting))('WORK-4 %s works until SIGTERM', async (command, [args, says]) => {
    const running = startCommand(line(command, args), env, folder)
    if (command === 'worker') await untilReported(jobs, running.pid)
    else await running.said(says)
    running.kill('SIGTERM')
    expect(await running.result).toMatchObject({ exitCode: exitCodes.fine })
  })

  it.each(['worker', 'reaper'])(
    'OPS-13 SEE-1 %s logs nodes that are not understood as JSON, if nobody watches',
    async (command) => {
      const { driver } = openDriver(inject('neo4jUrl'))
      const label = 'NotUnderstoodJob'
      const profile = { name: 'odd', extends: 'embedding', tables: [{ table: label }] }
      const config = join(folder, `${command}.config.mjs`)
      await writeFile(config, `export default ${JSON.stringify({ profile })}`)
      try {
        await installNeo4j({ driver, label })
        await driver.executeQuery(
          `CREATE (:${label} {id: 'none'}), (:${label} {id: 'bad', status: 'pending', payload: 'a.pdf'})`,
        )
        const [args] = lasting[command] ?? [[]]
        const running = startCommand([...line(command, args), '--config', config], env, folder)
        await running.said('without a status')
        if (command === 'worker') await running.said('set aside as a dead letter')
        running.kill('SIGTERM')
        const { stdout, stderr } = await running.result
        expect(stderr).not.toContain('UnstuckWarning')
        const lines = stdout.split('\n').filter((text) => text.includes('not-understood'))
        const told = lines.map((text) => JSON.parse(text) as Record<string, unknown>)
        const common = { level: 'warn', event: 'jobs:not-understood', table: label }
        expect(told).toContainEqual(expect.objectContaining(common))
        if (command === 'worker')
          expect(told).toContainEqual(expect.objectContaining({ ...common, job_id: 'bad' }))
      } finally {
        await rm(config)
        await removeNeo4j({ driver, label })
        await clear(driver, label)
        await driver.close()
      }
    },
  )

  it('OPS-8 doctor examines the nodes', async () => {
    // Its exit code depends on whether a sweep is overdue, which no reaper of this test prevents.
    const { stdout } = await runCommand(line('doctor', []), env, folder)
    expect(stdout).toContain('12 of 12 applied')
    expect(stdout).toContain('all nodes are adopted and understood')
  })

  it.each(Object.entries(working))('OPS-8 %s works', async (command, [args, says]) => {
    const { exitCode, stdout, stderr } = await runCommand(line(command, args), env, folder)
    expect({ exitCode, stdout, stderr }).toMatchObject({
      exitCode: exitCodes.fine,
      stdout: expect.stringContaining(filled(says)),
    })
  })
})

async function untilReported(jobs: Neo4jJobStore, pid: number): Promise<void> {
  await expect
    .poll(async () => (await jobs.listWorkers()).some((worker) => worker.pid === pid), { timeout: 30_000 })
    .toBe(true)
}
