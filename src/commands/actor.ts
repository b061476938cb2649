// Who acts, and what a role allows. A scope is a right to one kind of thing; a role is a set of scopes.

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

/** No role but admin uses leases: a worker has a token of its own with that scope. */
export const roles: Readonly<Record<Role, readonly Scope[]>> = { viewer, support, operator, admin: scopes }

export const isScope = (word: string): word is Scope => (scopes as readonly string[]).includes(word)
export const isRole = (word: string): word is Role => Object.hasOwn(roles, word)

export interface Actor {
  /** Written into the event of everything it changes. */
  id: string
  scopes: readonly Scope[]
  /** Set: it sees and changes jobs of this owner only, as if there were no others. */
  owner?: string
}
