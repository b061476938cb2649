// The scope and the store capability that each command needs. CLI, HTTP API and dashboard all come through here.
import type { ErrorCode } from '../errors/index.ts'
import { hasCapability, type StoreCapability } from '../store/capability.ts'
import type { Actor, Scope } from './actor.ts'

export interface Rule {
  scope: Scope
  /** Refused by a read-only server. */
  isWrite: boolean
  /** Acts on single jobs, so an actor limited to one owner may use it. */
  isForOwners: boolean
  /** A capability that the store must have. */
  needs?: StoreCapability
}

const read = (scope: Scope): Rule => ({ scope, isWrite: false, isForOwners: false })
const readOwn = (scope: Scope): Rule => ({ scope, isWrite: false, isForOwners: true })
const write = (scope: Scope): Rule => ({ scope, isWrite: true, isForOwners: false })
const writeOwn = (scope: Scope): Rule => ({ scope, isWrite: true, isForOwners: true })
const requiring = (needs: StoreCapability, rule: Rule): Rule => ({ ...rule, needs })

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
  reportProgress: write('leases:use'),
  completeJob: write('leases:use'),
  failJob: write('leases:use'),
  releaseJob: write('leases:use'),

  listDeadLetters: readOwn('jobs:read'),
  markCause: write('ops:bulk'),
  planRedrive: requiring('operations', readOwn('ops:bulk')),
  redrive: requiring('operations', writeOwn('ops:bulk')),
  planOperation: requiring('operations', readOwn('ops:bulk')),
  beginOperation: requiring('operations', writeOwn('ops:bulk')),
  listOperations: requiring('operations', readOwn('ops:bulk')),
  abortOperation: requiring('operations', writeOwn('ops:bulk')),

  listQueues: read('jobs:read'),
  listTrends: requiring('trends', read('jobs:read')),
  pauseQueue: write('queues:pause'),
  resumeQueue: write('queues:pause'),
  limitQueue: requiring('groups', write('queues:pause')),
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
  listWebhooks: requiring('webhooks', read('config:read')),
  addWebhook: requiring('webhooks', write('webhooks:admin')),
  switchWebhook: requiring('webhooks', write('webhooks:admin')),
  removeWebhook: requiring('webhooks', write('webhooks:admin')),
  listDeliveries: requiring('webhooks', read('config:read')),
  redeliver: requiring('webhooks', write('ops:bulk')),
  readMetrics: read('jobs:read'),
  readConfig: read('config:read'),
  listProfiles: read('config:read'),
  listAuditEntries: requiring('audit', read('events:read')),
  runDoctor: requiring('doctor', read('config:read')),

  listTokens: read('tokens:admin'),
  createToken: write('tokens:admin'),
  revokeToken: write('tokens:admin'),
} as const satisfies Record<string, Rule>

export type CommandName = keyof typeof commandRules
export const commandNames = Object.keys(commandRules) as CommandName[]

/** The detail is one line for people. */
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

/** Null if the actor may. */
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
      detail: `${name} acts on the jobs of all owners, and ${actor.id} is limited to one`,
    }
  if (isWrite && isReadOnly)
    return { code: 'READ_ONLY', detail: `${name} is a write, and this server is read-only` }
  if (needs !== undefined && tables.some(({ store }) => !hasCapability(store, needs)))
    return { code: 'NOT_SUPPORTED', detail: `not available: this store has no ${needs}` }
  return null
}
