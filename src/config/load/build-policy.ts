import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import { type ConfigProblem, problem } from '../config-problem.ts'
import type { PolicySetting, Setting } from '../variables/variable.ts'
import type { FoundValue } from './find-value.ts'

export type FoundValues = ReadonlyMap<Setting, FoundValue>

type NumberField = { [Field in keyof Policy]: Policy[Field] extends number ? Field : never }[keyof Policy]

/** The settings that override the policy of the profile. */
export function buildPolicy(
  base: Policy,
  filePolicy: PolicyOverride,
  found: FoundValues,
  problems: ConfigProblem[],
): PolicyOverride {
  const policy: PolicyOverride = { ...filePolicy }
  for (const [setting, { value, source }] of found) {
    if (isPolicySetting(setting) && source !== 'file') assign(policy, setting, value)
  }
  shapeBackoff('reap', base, policy, found, problems)
  shapeBackoff('failure', base, policy, found, problems)
  return policy
}

function isPolicySetting(setting: Setting): setting is PolicySetting {
  return setting.startsWith('policy.')
}

function assign(policy: PolicyOverride, setting: PolicySetting, value: string | number): void {
  const [, field = '', stage] = setting.split('.')
  if (setting === 'policy.notify') policy.notify = value === 'off' ? 'off' : 'on'
  else if (setting === 'policy.presence') policy.presence = value === 'off' ? 'off' : 'auto'
  else if (stage === undefined) policy[field as NumberField] = Number(value)
  else policy.stageFactors = { ...policy.stageFactors, [stage]: Number(value) }
}

/**
 * A base or a cap replaces steps by an exponential backoff (REAP-5). The one that is not set comes from the profile, and
 * yields to the one that was set on purpose.
 */
function shapeBackoff(
  cause: 'reap' | 'failure',
  profile: Policy,
  policy: PolicyOverride,
  found: FoundValues,
  problems: ConfigProblem[],
): void {
  const baseMs = found.get(`policy.${cause}BackoffBaseMs`)
  const maxMs = found.get(`policy.${cause}BackoffMaxMs`)
  if (baseMs === undefined && maxMs === undefined) return
  const hasOwnSteps = policy[`${cause}BackoffStepsMs`] !== undefined
  if (hasOwnSteps && [baseMs, maxMs].every((value) => value === undefined || value.source === 'file')) return

  const steps = profile[`${cause}BackoffStepsMs`]
  const fallbackBaseMs = steps[0] ?? profile[`${cause}BackoffBaseMs`]
  const fallbackMaxMs = steps.at(-1) ?? profile[`${cause}BackoffMaxMs`]
  const setBaseMs = baseMs && Number(baseMs.value)
  const setMaxMs = maxMs && Number(maxMs.value)
  policy[`${cause}BackoffStepsMs`] = []
  policy[`${cause}BackoffBaseMs`] = setBaseMs ?? Math.min(fallbackBaseMs, setMaxMs ?? fallbackBaseMs)
  policy[`${cause}BackoffMaxMs`] = setMaxMs ?? Math.max(fallbackMaxMs, setBaseMs ?? fallbackMaxMs)
  if (baseMs !== undefined && maxMs !== undefined && Number(baseMs.value) > Number(maxMs.value)) {
    problems.push(problem(baseMs.name, baseMs.given, `at most ${maxMs.value}, the value of ${maxMs.name}`))
  }
}
