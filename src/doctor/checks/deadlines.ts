import { showDuration } from '../../policy/explain/show-duration.ts'
import { withOverride } from '../../policy/policy.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, fine, warning } from '../finding.ts'

/** A stage whose deadline exceeds the runtime limit of an attempt is stopped before it. */
export function checkDeadlines({ name, stored, override }: TableFacts): Finding[] {
  if (stored === null) return []
  const { maxRuntimeMs, typeRuntimesMs, stageDeadlinesMs } = withOverride(stored, override)
  const runtimesMs = [maxRuntimeMs, ...Object.values(typeRuntimesMs)]
  const longestMs = runtimesMs.includes(0) ? Number.POSITIVE_INFINITY : Math.max(...runtimesMs)
  const cut = Object.entries(stageDeadlinesMs).filter(([, deadlineMs]) => deadlineMs > longestMs)
  const told = cut.map(([stage, deadlineMs]) => {
    const message = `${name}: stage ${stage} has a deadline of ${showDuration(deadlineMs)}, but attempts are limited to ${showDuration(longestMs)}`
    return warning('deadlines', message, 'Raise maxRuntimeMs (UNSTUCK_MAX_RUNTIME_SEC), or set it to 0.')
  })
  if (told.length > 0) return told
  const end =
    maxRuntimeMs === 0
      ? 'attempts have no time limit'
      : `attempts are limited to ${showDuration(maxRuntimeMs)}`
  return [fine('deadlines', `${name}: ${end}`)]
}
