import { describeAhead } from '../../profile/time-type.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, problem } from '../finding.ts'

const FIX = 'Set timeZone in the profile to the zone that the application writes, then: unstuck attach'

/** In a wrong zone jobs start late or look older than they are, and are taken from live workers. */
export function checkTimes({ timesAhead }: TableFacts): Finding[] {
  return (timesAhead ?? []).map((time) => problem('time zone', describeAhead(time), FIX))
}
