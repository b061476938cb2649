// Every command × every role × read-only, over the real API: 403 without the scope, 403 for a write on a read-only server, and
// everything else passes the permissions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Role, roles } from '../../../src/commands/actor.ts'
import { type CommandName, commandNames, commandRules } from '../../../src/commands/permissions.ts'
import type { BuiltApp } from '../../../src/http/app.ts'
import { type Call, type HttpBench, openHttpBench } from '../http-bench.ts'

const id = '0198c1d4-6f0e-7c3a-9a51-3f4d2f6f2a10'
const lease = { id, lease_id: '5b0a7c1e-4f5e-4c1a-9c7e-0a9f3f0f5d11' }

/** Nothing named here exists: past the permissions is a 404, an empty list or a harmless success. */
const requests: Record<CommandName, [line: string, body?: unknown]> = {
  listJobs: ['GET /v1/jobs'],
  readJob: [`GET /v1/jobs/${id}`],
  explainJob: [`GET /v1/jobs/${id}/why`],
  readEvents: [`GET /v1/jobs/${id}/events`],
  enqueueJob: ['POST /v1/jobs', { type: 'matrix' }],
  retryJob: [`POST /v1/jobs/${id}/retry`, {}],
  cancelJob: [`POST /v1/jobs/${id}/cancel`, {}],
  discardJob: [`DELETE /v1/jobs/${id}`],
  listLeases: ['GET /v1/leases'],
  claimJobs: ['POST /v1/leases/claim', { worker_id: 'w', queues: ['none'] }],
  heartbeatJobs: ['POST /v1/leases/heartbeat', { leases: [lease] }],
  reportProgress: ['POST /v1/leases/progress', { reports: [{ ...lease, value: 0.5 }] }],
  completeJob: ['POST /v1/leases/complete', lease],
  failJob: ['POST /v1/leases/fail', lease],
  releaseJob: ['POST /v1/leases/release', lease],
  listDeadLetters: ['GET /v1/dead-letters'],
  planRedrive: ['POST /v1/dead-letters/none/redrive', { dry_run: true }],
  redrive: ['POST /v1/dead-letters/none/redrive', {}],
  markCause: ['PATCH /v1/dead-letters/none', { state: 'ignored' }],
  planOperation: ['POST /v1/operations', { action: 'retry', q: 'type:none', dry_run: true }],
  beginOperation: ['POST /v1/operations', { action: 'retry', q: 'type:none' }],
  listOperations: ['GET /v1/operations'],
  abortOperation: [`POST /v1/operations/${id}/abort`],
  listQueues: ['GET /v1/queues'],
  listTrends: ['GET /v1/trends'],
  pauseQueue: ['POST /v1/queues/none/pause', {}],
  resumeQueue: ['POST /v1/queues/none/resume', {}],
  limitQueue: ['POST /v1/queues/none/limit', {}],
  listBreakers: ['GET /v1/breakers'],
  holdBreaker: ['POST /v1/breakers/none/hold', {}],
  resumeBreaker: ['POST /v1/breakers/none/resume', {}],
  listRateLimits: ['GET /v1/rate-limits'],
  listSchedules: ['GET /v1/schedules'],
  previewSweep: ['POST /v1/reaper/run', { dry_run: true }],
  sweep: ['POST /v1/reaper/run', {}],
  listSweeps: ['GET /v1/reaper/sweeps'],
  listReclaims: ['GET /v1/reclaims'],
  listStaleJobs: ['GET /v1/stale'],
  validateStale: ['GET /v1/stale/validation'],
  readHealth: ['GET /v1/health'],
  readSlo: ['GET /v1/slo'],
  listWorkers: ['GET /v1/workers'],
  drainWorker: ['POST /v1/workers/none/drain', {}],
  listWebhooks: ['GET /v1/webhooks'],
  addWebhook: ['POST /v1/webhooks', { url: 'https://example.com/hooks' }],
  switchWebhook: [`PATCH /v1/webhooks/${id}`, { is_active: false }],
  removeWebhook: [`DELETE /v1/webhooks/${id}`],
  listDeliveries: ['GET /v1/webhooks/deliveries'],
  redeliver: [`POST /v1/webhooks/deliveries/${id}/redeliver`],
  readMetrics: ['GET /metrics'],
  readConfig: ['GET /v1/config'],
  listProfiles: ['GET /v1/profiles'],
  listAuditEntries: ['GET /v1/audit'],
  runDoctor: ['GET /v1/doctor'],
  listTokens: ['GET /v1/tokens'],
  createToken: ['POST /v1/tokens', { name: 'matrix', scopes: ['jobs:read', 'jobs:read'] }],
  revokeToken: ['DELETE /v1/tokens/none'],
}

let bench: HttpBench
let readOnly: BuiltApp

beforeAll(async () => {
  bench = await openHttpBench()
  readOnly = bench.build({ isReadOnly: true })
})

afterAll(() => bench.close())

const cases = commandNames.flatMap((name) =>
  (Object.keys(roles) as Role[]).flatMap((role) =>
    [false, true].map((isReadOnly) => ({ name, role, isReadOnly })),
  ),
)

/** Commands that each role may use in addition to the role before it; a copy that catches mistakes in the table. */
const added: Record<Role, CommandName[]> = {
  viewer: [
    'listJobs',
    'readJob',
    'explainJob',
    'readEvents',
    'listLeases',
    'listDeadLetters',
    'listQueues',
    'listTrends',
    'listBreakers',
    'listRateLimits',
    'listSchedules',
    'listSweeps',
    'listReclaims',
    'listStaleJobs',
    'validateStale',
    'listProfiles',
    'listAuditEntries',
    'readHealth',
    'readSlo',
    'listWorkers',
    'listWebhooks',
    'listDeliveries',
    'readMetrics',
    'readConfig',
    'runDoctor',
  ],
  support: ['retryJob'],
  operator: [
    'enqueueJob',
    'cancelJob',
    'discardJob',
    'planRedrive',
    'redrive',
    'markCause',
    'planOperation',
    'beginOperation',
    'listOperations',
    'abortOperation',
    'pauseQueue',
    'resumeQueue',
    'limitQueue',
    'holdBreaker',
    'resumeBreaker',
    'previewSweep',
    'sweep',
    'drainWorker',
    'redeliver',
  ],
  admin: [
    'claimJobs',
    'heartbeatJobs',
    'reportProgress',
    'completeJob',
    'failJob',
    'releaseJob',
    'addWebhook',
    'switchWebhook',
    'removeWebhook',
    'listTokens',
    'createToken',
    'revokeToken',
  ],
}
const order: Role[] = ['viewer', 'support', 'operator', 'admin']
const allowed = (role: Role) => order.slice(0, order.indexOf(role) + 1).flatMap((each) => added[each])
const reads = new Set<CommandName>([
  ...added.viewer,
  'planRedrive',
  'planOperation',
  'listOperations',
  'previewSweep',
  'listTokens',
])

describe('permissions', () => {
  it.each(cases)('OPS-1 $name as $role, read-only $isReadOnly', async ({ name, role, isReadOnly }) => {
    const [line, body] = requests[name]
    const call: Call = body === undefined ? { as: role } : { as: role, body }
    const reply = await bench.call(line, call, isReadOnly ? readOnly : bench.app)
    if (!allowed(role).includes(name)) {
      expect(reply).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      expect(reply.body.detail).toContain(commandRules[name].scope)
    } else if (isReadOnly && !reads.has(name)) {
      expect(reply).toMatchObject({ status: 403, body: { code: 'READ_ONLY' } })
    } else expect([200, 201, 202, 404, 409]).toContain(reply.status)
  })

  it('OPS-1 lists the permissions of the caller', async () => {
    const { body } = await bench.call('GET /v1/me', { as: 'support' })
    expect(body.commands.retryJob).toEqual({ is_allowed: true, reason: null })
    expect(body.commands.cancelJob).toMatchObject({ is_allowed: false })
    expect(Object.keys(body.commands).toSorted()).toEqual([...commandNames].toSorted())
  })

  it('OPS-1 nobody gives away a scope that it does not have', async () => {
    const some = await bench.token({ scopes: ['tokens:admin', 'jobs:read'] })
    const body = { name: 'more', role: 'admin' }
    expect(await bench.call('POST /v1/tokens', { as: some, body })).toMatchObject({ status: 403 })
  })
})
