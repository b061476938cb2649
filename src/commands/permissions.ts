// One table of what each command asks for. CLI, HTTP API and dashboard all come through here (§ one command layer).
import type { ErrorCode } from '../errors/index.ts'
import type { Actor, Scope } from './actor.ts'

interface Rule {
  scope: Scope
  /** Changes something: refused where the server is read-only. */
  isWrite: boolean
  /** Concerns jobs one by one, so that somebody who sees those of one owner only may use it. */
  isForOwners: boolean
}

const read = (scope: Scope): Rule => ({ scope, isWrite: false, isForOwners: false })
const readOwn = (scope: Scope): Rule => ({ scope, isWrite: false, isForOwners: true })
const write = (scope: Scope): Rule => ({ scope, isWrite: true, isForOwners: false })
const writeOwn = (scope: Scope): Rule => ({ scope, isWrite: true, isForOwners: true })

export const commandRules = {
  listJobs: readOwn('jobs:read'),
  readJob: readOwn('jobs:read'),
  explainJob: readOwn('jobs:read'),
  readEvents: readOwn('events:read'),
  enqueueJob: writeOwn('jobs:enqueue'),
  retryJob: writeOwn('jobs:retry'),
  cancelJob: writeOwn('jobs:cancel'),
  discardJob: writeOwn('jobs:discard'),

  listLeases: readOwn('jobs:read'),
  claimJobs: write('leases:use'),
  heartbeatJobs: write('leases:use'),
  completeJob: write('leases:use'),
  failJob: write('leases:use'),
  releaseJob: write('leases:use'),

  listDeadLetters: readOwn('jobs:read'),
  markCause: write('ops:bulk'),
  planRedrive: readOwn('ops:bulk'),
  redrive: writeOwn('ops:bulk'),
  planOperation: readOwn('ops:bulk'),
  beginOperation: writeOwn('ops:bulk'),
  listOperations: readOwn('ops:bulk'),
  abortOperation: writeOwn('ops:bulk'),

  listQueues: read('jobs:read'),
  pauseQueue: write('queues:pause'),
  resumeQueue: write('queues:pause'),
  listBreakers: read('jobs:read'),
  holdBreaker: write('breakers:write'),
  resumeBreaker: write('breakers:write'),
  listRateLimits: read('jobs:read'),
  listSchedules: read('jobs:read'),

  previewSweep: read('reaper:run'),
  sweep: write('reaper:run'),
  listSweeps: read('jobs:read'),
  listReclaims: read('events:read'),
  listStaleJobs: read('jobs:read'),
  validateStale: read('jobs:read'),
  readHealth: read('jobs:read'),
  readSlo: read('jobs:read'),
  listWorkers: read('jobs:read'),
  drainWorker: write('workers:drain'),
  listWebhooks: read('config:read'),
  addWebhook: write('webhooks:admin'),
  switchWebhook: write('webhooks:admin'),
  removeWebhook: write('webhooks:admin'),
  listDeliveries: read('config:read'),
  redeliver: write('ops:bulk'),
  readMetrics: read('jobs:read'),
  readConfig: read('config:read'),
  listProfiles: read('config:read'),
  listActs: read('events:read'),
  runDoctor: read('config:read'),

  listTokens: read('tokens:admin'),
  createToken: write('tokens:admin'),
  revokeToken: write('tokens:admin'),
} as const satisfies Record<string, Rule>

export type CommandName = keyof typeof commandRules
export const commandNames = Object.keys(commandRules) as CommandName[]

/** An expected no: the code says which, the detail is one line for people. */
export interface Refusal {
  code: ErrorCode
  detail: string
  hint?: string
  why?: { code: string; message: string }[]
}

/** Null where the actor may. */
export function refusalOf(
  name: CommandName,
  { actor, isReadOnly }: { actor: Actor; isReadOnly: boolean },
): Refusal | null {
  const { scope, isWrite, isForOwners } = commandRules[name]
  if (!actor.scopes.includes(scope))
    return { code: 'FORBIDDEN', detail: `${name} needs the scope ${scope}, which ${actor.id} does not have` }
  if (actor.owner !== undefined && !isForOwners)
    return {
      code: 'FORBIDDEN',
      detail: `${name} concerns jobs of all owners, and ${actor.id} sees those of one`,
    }
  if (isWrite && isReadOnly)
    return { code: 'READ_ONLY', detail: `${name} changes something, and this server is read-only` }
  return null
}
