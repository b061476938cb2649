// Runs of spec/lease.qnt, step by step on the SQL functions: every answer and every row is what the model says. Those in
// traces/ are part of the repository; `npm run spec` makes new ones.
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'
import { createReplica, type Replica } from '../support/replica.ts'
import { listTraces, type ModelJob, readTrace } from './itf-trace.ts'
import { Replay } from './replay.ts'

const given = process.env['UNSTUCK_SPEC_TRACES']
const folder = given === undefined ? new URL('traces/', import.meta.url) : pathToFileURL(`${given}/`)

describe('the model of leases', () => {
  const profile = nativeProfile('unstuck')
  const [table] = profile.tables
  let bench: PostgresBench
  let replica: Replica
  beforeAll(async () => {
    bench = await createPostgresBench({ profile, table })
    replica = await createReplica(bench.database.pool, table, 'unstuck')
  })
  afterAll(() => bench.close())

  for (const file of listTraces(folder)) {
    it(`LEASE-5 the SQL functions answer and write as the model does in ${file}`, async () => {
      const replay = await Replay.start(bench, replica)
      for (const [index, { lastStep, jobs }] of readTrace(folder, file).entries()) {
        const step = `step ${index}, ${lastStep.verb} of job ${lastStep.job} under lease ${lastStep.lease}`
        expect({ step, answer: await replay.take(lastStep) }).toEqual({ step, answer: lastStep.answer })
        expect({ step, jobs: await replay.read() }).toEqual({ step, jobs: jobs.map(seen) })
      }
    })
  }

  it('LEASE-5 the traces of the repository take every step of the model', () => {
    const traces = new URL('traces/', import.meta.url)
    const steps = listTraces(traces).flatMap((file) => readTrace(traces, file))
    const verbs = new Set(steps.map(({ lastStep }) => `${lastStep.verb} ${lastStep.answer}`.trim()))
    for (const verb of [
      'claim claimed',
      'heartbeat kept',
      'heartbeat cancel-asked',
      'heartbeat finished',
      'heartbeat lost',
      'complete completed',
      'complete already-done',
      'complete lease-lost',
      'fail retried',
      'fail dead',
      'fail already-done',
      'fail lease-lost',
      'release released',
      'release already-done',
      'release lease-lost',
      'cancel cancelled',
      'cancel cancel-requested',
      'cancel already-ended',
      'retry retried',
      'retry not-dead',
      'reap',
      'replicate',
      'failover',
    ])
      expect(verbs).toContain(verb)
  })
})

/** Fields of a row that both sides have. */
function seen(job: ModelJob): ModelJob {
  const {
    status,
    worker,
    lease,
    fence,
    attempt,
    failures,
    crashes,
    generation,
    isCancelAsked,
    finishedLease,
  } = job
  return {
    status,
    worker,
    lease,
    fence,
    attempt,
    failures,
    crashes,
    generation,
    isCancelAsked,
    finishedLease,
  }
}
