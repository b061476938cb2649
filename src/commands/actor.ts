// Actors, scopes and roles. A scope permits one kind of action; a role is a set of scopes.

export const scopes = [
  'jobs:read',
  'jobs:payload',
  'jobs:enqueue',
  'jobs:retry',
  'jobs:cancel',
  'jobs:discard',
  'ops:bulk',
  'queues:pause',
  'breakers:write',
  'limits:write',
  'workers:drain',
  'reaper:run',
  'leases:use',
  'events:read',
  'config:read',
  'webhooks:admin',
  'tokens:admin',
] as const
export type Scope = (typeof scopes)[number]

export type Role = 'viewer' | 'support' | 'operator' | 'admin'

const viewer: readonly Scope[] = ['jobs:read', 'events:read', 'config:read']
const support: readonly Scope[] = [...viewer, 'jobs:payload', 'jobs:retry']
const operator: readonly Scope[] = [
  ...support,
  'jobs:enqueue',
  'jobs:cancel',
  'jobs:discard',
  'ops:bulk',
  'queues:pause',
  'breakers:write',
  'limits:write',
  'workers:drain',
  'reaper:run',
]

/** Only admin may use leases: a worker has its own token with that scope. */
export const roles: Readonly<Record<Role, readonly Scope[]>> = { viewer, support, operator, admin: scopes }

export const isScope = (word: string): word is Scope => (scopes as readonly string[]).includes(word)
export const isRole = (word: string): word is Role => Object.hasOwn(roles, word)

export interface Actor {
  /** Recorded in the event of every change it makes. */
  id: string
  scopes: readonly Scope[]
  /** Limits it to the jobs of this owner; no others exist for it. */
  owner?: string
}
