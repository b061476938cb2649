// The words and ranges of policy fields in a config file, as in sql/migrations/0001_engine.sql, but checked at start instead
// of at the first call.
import { closestName } from '../../errors/index.ts'
import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import { type ConfigProblem, problem } from '../config-problem.ts'
import {
  describeKind,
  MAX_TIMER_MS,
  milliseconds,
  readNumber,
  readText,
  type ValueKind,
} from '../variables/value-kind.ts'

type FieldKind =
  | ValueKind
  | { type: 'list'; of: ValueKind }
  | { type: 'by stage' | 'by type'; of: ValueKind | Flag }
  | Flag
  | { type: 'text or null' }

type Flag = { type: 'boolean' }

const ONE_YEAR_MS = 31_536_000_000
const LEASE = milliseconds(1, ONE_YEAR_MS)
const DURATION = milliseconds(0, ONE_YEAR_MS)
const TIMER = milliseconds(1, MAX_TIMER_MS)
const ATTEMPTS: ValueKind = { type: 'whole', unit: 'attempts', min: 1, max: 1000 }

const fieldKinds: Record<keyof Policy, FieldKind> = {
  attemptCountedAt: { type: 'choice', words: ['claim', 'failure', 'failure-and-reap'] },
  failureBudget: { type: 'choice', words: ['attempts', 'failures'] },
  reapBudget: { type: 'choice', words: ['attempts', 'crashes'] },
  maxAttempts: ATTEMPTS,
  maxCrashes: ATTEMPTS,
  maxTimeouts: ATTEMPTS,
  defaultLeaseMs: LEASE,
  stageLeasesMs: { type: 'by stage', of: LEASE },
  stageFactors: { type: 'by stage', of: { type: 'decimal', min: 0, max: 1000 } },
  defaultStage: { type: 'text or null' },
  defaultDeadlineMs: DURATION,
  stageDeadlinesMs: { type: 'by stage', of: DURATION },
  maxRuntimeMs: DURATION,
  typeRuntimesMs: { type: 'by type', of: DURATION },
  heartbeatMs: TIMER,
  sweepIntervalMs: TIMER,
  reapBackoffStepsMs: { type: 'list', of: DURATION },
  reapBackoffBaseMs: DURATION,
  reapBackoffMaxMs: DURATION,
  failureBackoffStepsMs: { type: 'list', of: DURATION },
  failureBackoffBaseMs: DURATION,
  failureBackoffMaxMs: DURATION,
  failureBackoffJitterMs: DURATION,
  requeueRatePerS: { type: 'decimal', min: 0, max: 1_000_000 },
  legacyAgeRule: { type: 'boolean' },
  legacyAgeStages: { type: 'choice', words: ['all', 'listed'] },
  retentionDays: { type: 'whole', unit: 'days', min: 7, max: 30 },
  keepCompleted: { type: 'boolean' },
  typeKeepCompleted: { type: 'by type', of: { type: 'boolean' } },
  events: { type: 'choice', words: ['recovery', 'all'] },
  notify: { type: 'choice', words: ['on', 'off'] },
  dispatch: { type: 'choice', words: ['off', 'requeued'] },
  presence: { type: 'choice', words: ['auto', 'off'] },
}

/** Returns the valid fields and reports the others as problems. */
export function readPolicy(
  fields: Readonly<Record<string, unknown>>,
  nameOf: (field: string) => string,
  problems: ConfigProblem[],
): PolicyOverride {
  const policy: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const kind = Object.hasOwn(fieldKinds, field) ? fieldKinds[field as keyof Policy] : undefined
    if (kind === undefined) problems.push(unknownField(nameOf(field), field, Object.keys(fieldKinds)))
    else if (isOfKind(kind, value)) policy[field] = structuredClone(value)
    else problems.push(problem(nameOf(field), value, describeField(kind)))
  }
  return policy
}

export function unknownField(name: string, field: string, known: readonly string[]): ConfigProblem {
  const near = closestName(field, known, { maxEdits: 3 })
  const takes = near === undefined ? `one of ${known.join(', ')}` : `no such field: did you mean ${near}?`
  return problem(name, field, takes)
}

function isOfKind(kind: FieldKind, value: unknown): boolean {
  switch (kind.type) {
    case 'boolean':
      return typeof value === 'boolean'
    case 'text or null':
      return value === null || isOfKind({ type: 'text' }, value)
    case 'list':
      return Array.isArray(value) && value.every((item) => isOfKind(kind.of, item))
    case 'by stage':
    case 'by type':
      return isPlainObject(value) && Object.values(value).every((item) => isOfKind(kind.of, item))
    default:
      if (typeof value === 'number') return readNumber(kind, value) !== undefined
      return typeof value === 'string' && !isNumeric(kind) && readText(kind, value) !== undefined
  }
}

function describeField(kind: FieldKind): string {
  switch (kind.type) {
    case 'boolean':
      return 'true or false'
    case 'text or null':
      return 'a non-empty text, or null'
    case 'list':
      return `a list, each item ${describeKind(kind.of)}`
    case 'by stage':
      return `an object of stages, each ${describeField(kind.of)}`
    case 'by type':
      return `an object of types, each ${describeField(kind.of)}`
    default:
      return describeKind(kind)
  }
}

function isNumeric(kind: ValueKind): boolean {
  return kind.type === 'whole' || kind.type === 'decimal' || kind.type === 'share'
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
