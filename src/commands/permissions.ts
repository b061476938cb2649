// One table of what each command asks for. CLI, HTTP API and dashboard all come through here (§ one command layer).
import type { ErrorCode } from '../errors/index.ts'
import { hasCapability, type StoreCapability } from '../store/capability.ts'
import type { Actor, Scope } from './actor.ts'

interface Rule {
  scope: Scope
  /** Changes something: refused where the server is read-only. */
  isWrite: boolean
  /** Concerns jobs one by one, so that somebody who sees those of one owner only may use it. */
  isForOwners: boolean
  /** Of the store that keeps the jobs. */
  needs?: StoreCapability
}

const read = (scope: Scope): Rule => ({ scope, isWrite: false, isForOwners: false })
const readOwn = (scope: Scope): Rule => ({ scope, isWrite: false, isForOwners: true })
const write = (scope: Scope): Rule => ({ scope, isWrite: true, isForOwners: false })
const writeOwn = (scope: Scope): Rule => ({ scope, isWrite: true, isForOwners: true })
const where = (needs: StoreCapability, rule: Rule): Rule => ({ ...rule, needs })

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
  planRedrive: where('operations', readOwn('ops:bulk')),
  redrive: where('operations', writeOwn('ops:bulk')),
  planOperation: where('operations', readOwn('ops:bulk')),
  beginOperation: where('operations', writeOwn('ops:bulk')),
  listOperations: where('operations', readOwn('ops:bulk')),
  abortOperation: where('operations', writeOwn('ops:bulk')),

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
  listWebhooks: where('webhooks', read('config:read')),
  addWebhook: where('webhooks', write('webhooks:admin')),
  switchWebhook: where('webhooks', write('webhooks:admin')),
  removeWebhook: where('webhooks', write('webhooks:admin')),
  listDeliveries: where('webhooks', read('config:read')),
  redeliver: where('webhooks', write('ops:bulk')),
  readMetrics: read('jobs:read'),
  readConfig: read('config:read'),
  listProfiles: read('config:read'),
  listActs: where('audit', read('events:read')),
  runDoctor: where('doctor', read('config:read')),

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

interface Circumstances {
  actor: Actor
  isReadOnly: boolean
  tables?: readonly { store: { readonly lacks?: ReadonlySet<StoreCapability> } }[]
}

/** Null where the actor may. */
export function refusalOf(
  name: CommandName,
  { actor, isReadOnly, tables = [] }: Circumstances,
): Refusal | null {
  const { scope, isWrite, isForOwners, needs }: Rule = commandRules[name]
  if (!actor.scopes.includes(scope))
    return { code: 'FORBIDDEN', detail: `${name} needs the scope ${scope}, which ${actor.id} does not have` }
  if (actor.owner !== undefined && !isForOwners)
    return {
      code: 'FORBIDDEN',
      detail: `${name} concerns jobs of all owners, and ${actor.id} sees those of one`,
    }
  if (isWrite && isReadOnly)
    return { code: 'READ_ONLY', detail: `${name} changes something, and this server is read-only` }
  if (needs !== undefined && tables.some(({ store }) => !hasCapability(store, needs)))
    return { code: 'NOT_SUPPORTED', detail: `not available with this store, which has no ${needs}` }
  return null
}
