import { withOverride } from '../../policy/policy.ts'
import type { RouteFacts, TableFacts } from '../facts.ts'
import { type Finding, fine } from '../finding.ts'
import { SET_DIRECT } from './pooler.ts'

const CHECK = 'presence'

/** Never a warning: without presence, leases decide (LEASE-10). */
export function checkPresence(
  { name, stored, override, workers }: TableFacts,
  route: RouteFacts | null,
): Finding[] {
  if (stored === null || workers === null) return []
  if (withOverride(stored, override).presence === 'off')
    return [fine(CHECK, `${name}: turned off by the policy; leases alone detect dead workers`)]
  const count = (presence: string) => workers.filter((worker) => worker.presence === presence).length
  const pooled = count('pooled')
  if (pooled > 0 || route?.isDirect === false) {
    const isDirect = route?.direct?.isDirect === true && pooled === 0
    const who = pooled === 0 ? '' : ` for ${pooled} ${pooled === 1 ? 'worker' : 'workers'}`
    const message = `${name}: off${who} because of a pooler; leases alone detect dead workers`
    if (!isDirect) return [{ ...fine(CHECK, message), fix: SET_DIRECT }]
  }
  return [fine(CHECK, `${name}: on, ${count('present')} of ${workers.length} live workers present`)]
}
