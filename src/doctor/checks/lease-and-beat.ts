import { judgeBeat } from '../../policy/lease/beat-check.ts'
import { withOverride } from '../../policy/policy.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

const CHECK = 'lease vs beat'

/** Checks the stored policy with the overrides of this process. */
export function checkLeaseAndBeat({ name, stored, override }: TableFacts): Finding[] {
  if (stored === null) return []
  const policy = withOverride(stored, override)
  const { refusal, warnings } = judgeBeat(policy)
  const findings = warnings.map((text) => warning(CHECK, ...split(`${name}: ${text}`)))
  if (refusal !== undefined) {
    for (const text of refusal.split('\n')) findings.push(problem(CHECK, ...split(`${name}: ${text}`)))
  }
  if (findings.length > 0) return findings
  const { defaultLeaseMs, heartbeatMs } = policy
  return [fine(CHECK, `${name}: lease ${defaultLeaseMs / 1000} s, heartbeat ${heartbeatMs / 1000} s`)]
}

/** The verdict ends with the setting to change. */
function split(text: string): [message: string, fix: string | null] {
  const at = text.indexOf(': set ')
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 2)]
}
