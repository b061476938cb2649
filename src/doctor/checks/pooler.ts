import type { DoctorFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

export const SET_DIRECT = 'Set UNSTUCK_DIRECT_URL to the address of the server behind the pooler.'

/** Behind a pooler all connections of a user share a pool, so transactions of handlers can delay heartbeats (C27). */
export function checkPooler({ route }: DoctorFacts): Finding[] {
  if (route === null) return []
  const { isDirect, direct } = route
  if (direct?.isSameDatabase === false)
    return [
      problem(
        'pooler',
        'UNSTUCK_DIRECT_URL points to another database than the one with the jobs',
        SET_DIRECT,
      ),
    ]
  if (direct?.isDirect === false)
    return [warning('pooler', 'UNSTUCK_DIRECT_URL points to a pooler, too', SET_DIRECT)]
  if (direct !== null) return [fine('pooler', 'heartbeats and hints use a direct connection')]
  if (isDirect) return [fine('pooler', 'none')]
  const message = 'heartbeats share the connections of a pooler with handlers, and hints may not arrive'
  return [warning('pooler', message, SET_DIRECT)]
}
