import { UnstuckError } from '../../errors/index.ts'
import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import type { ProfileName } from '../../profile/shipped.ts'
import type { ConfigSource, ConfigValue } from '../config.ts'
import { readText } from '../variables/value-kind.ts'
import type { Setting } from '../variables/variable.ts'
import { defaultOf, variables, variablesOf } from '../variables/variables.ts'
import type { FoundValues } from './build-policy.ts'
import { maskUrl } from './show-url.ts'

type Value = string | number | null

/** The value that was set, else the default. */
export function readSetting(setting: Setting, found: FoundValues, profile: ProfileName): Value {
  const set = found.get(setting)?.value
  if (set !== undefined) return set
  const variable = variables.find(({ sets, isPart }) => isPart === undefined && sets.includes(setting))
  const text = variable === undefined ? null : defaultOf(variable, profile)
  if (variable === undefined || text === null) return null
  return readText(variable.kind, text) ?? null
}

export function readNumberSetting(setting: Setting, found: FoundValues, profile: ProfileName): number {
  const value = readSetting(setting, found, profile)
  if (typeof value === 'number') return value
  throw new UnstuckError('INTERNAL', `${setting} has no default for the profile ${profile}`)
}

export function readTextSetting(setting: Setting, found: FoundValues, profile: ProfileName): string | null {
  const value = readSetting(setting, found, profile)
  return value === null ? null : String(value)
}

export interface ValueLayers {
  found: FoundValues
  profile: ProfileName
  preset: PolicyOverride
  filePolicy: PolicyOverride
  inForce: Policy
}

/** Every setting of the profile in the order of the table, then those that only the config file can set. */
export function listValues(layers: ValueLayers): ConfigValue[] {
  const { profile, filePolicy, inForce } = layers
  const values = new Map<string, ConfigValue>()
  for (const { sets, requirement, isSecret } of variablesOf(profile)) {
    for (const setting of sets) {
      const steps = stepsInsteadOf(setting)
      const name = steps !== undefined && inForce[steps].length > 0 ? `policy.${steps}` : setting
      if (values.has(name)) continue
      const [value, source] = valueAndSource(name, layers)
      const shown = isSecret && typeof value === 'string' ? maskUrl(value) : value
      values.set(name, { name, value: shown, source, requirement })
    }
  }
  for (const field of Object.keys(filePolicy) as (keyof Policy)[]) {
    const name = `policy.${field}`
    if (values.has(name) || isShapedAway(field, inForce)) continue
    values.set(name, { name, value: asValue(inForce[field]), source: 'file', requirement: 'OPS-8' })
  }
  return [...values.values()]
}

type StepsField = 'reapBackoffStepsMs' | 'failureBackoffStepsMs'

/** If there are steps, base and cap have no effect and are not shown. */
function stepsInsteadOf(setting: string): StepsField | undefined {
  const [, cause] = /^policy\.(reap|failure)Backoff(?:Base|Max)Ms$/.exec(setting) ?? []
  return cause === undefined ? undefined : (`${cause}BackoffStepsMs` as StepsField)
}

/** The reverse: steps of a file that a variable replaced, and base and cap that steps of a file replaced. */
function isShapedAway(field: keyof Policy, inForce: Policy): boolean {
  if (field === 'reapBackoffStepsMs' || field === 'failureBackoffStepsMs') return inForce[field].length === 0
  const steps = stepsInsteadOf(`policy.${field}`)
  return steps !== undefined && inForce[steps].length > 0
}

function valueAndSource(name: string, layers: ValueLayers): [Value, ConfigSource] {
  const { found, profile, inForce } = layers
  const set = found.get(name as Setting)
  if (set !== undefined) return [set.value, set.source]
  if (name === 'migrateUrl' || name === 'directUrl' || name === 'readUrl')
    return valueAndSource('databaseUrl', layers)
  const [group, field = '', stage] = name.split('.')
  if (group !== 'policy') return [readSetting(name as Setting, found, profile), 'default']
  if (stage !== undefined) return [inForce.stageFactors[stage] ?? null, 'profile']
  return [asValue(inForce[field as keyof Policy]), sourceOfField(field, layers)]
}

function sourceOfField(field: string, { preset, filePolicy }: ValueLayers): ConfigSource {
  if (Object.hasOwn(filePolicy, field)) return 'file'
  return Object.hasOwn(preset, field) ? 'preset' : 'profile'
}

function asValue(value: Policy[keyof Policy]): Value {
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value)
}
