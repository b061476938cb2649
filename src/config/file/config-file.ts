import type { PolicyOverride } from '../../policy/policy.ts'
import type { Profile } from '../../profile/profile.ts'
import { type ConfigProblem, nameInFile, problem } from '../config-problem.ts'
import type { Setting } from '../variables/variable.ts'
import { variables } from '../variables/variables.ts'
import { isPlainObject, readPolicy, unknownField } from './policy-fields.ts'
import { readOwnProfile } from './read-own-profile.ts'

/** A config file whose policy is checked. Other values are checked with their setting. */
export interface CheckedFile {
  values: ReadonlyMap<Setting, unknown>
  policy: PolicyOverride
  /** The file's own profile, if it has one. */
  ownProfile?: Profile | undefined
}

/** `file` is the export of a module, so nothing about it is certain. */
export function checkConfigFile(file: unknown, problems: ConfigProblem[]): CheckedFile {
  const values = new Map<Setting, unknown>()
  if (file === undefined) return { values, policy: {} }
  if (!isPlainObject(file)) {
    problems.push(problem('the config file', file, 'an object as its default export'))
    return { values, policy: {} }
  }
  const { policy: given, profile, shards, ...others } = file
  // Read with the other ways to give them.
  if (shards !== undefined) values.set('shards', JSON.stringify(shards))
  const ownProfile = isPlainObject(profile) ? readOwnProfile(profile, problems) : undefined
  collect(isPlainObject(profile) ? others : { profile, ...others }, '', values, problems)
  const policy = readFilePolicy(given, problems)
  collectPolicy(policy, values)
  return { values, policy, ownProfile }
}

function readFilePolicy(given: unknown, problems: ConfigProblem[]): PolicyOverride {
  if (given === undefined) return {}
  if (isPlainObject(given)) return readPolicy(given, (field) => nameInFile(`policy.${field}`), problems)
  problems.push(problem(nameInFile('policy'), given, 'an object of policy fields'))
  return {}
}

function collect(
  fields: Record<string, unknown>,
  prefix: string,
  values: Map<Setting, unknown>,
  problems: ConfigProblem[],
): void {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const path = `${prefix}${field}`
    const setting = settings.find((known) => known === path)
    if (setting !== undefined) values.set(setting, value)
    else if (prefix === '' && settings.some((known) => known.startsWith(`${field}.`))) {
      if (isPlainObject(value)) collect(value, `${field}.`, values, problems)
      else problems.push(problem(nameInFile(path), value, 'an object'))
    } else problems.push(unknownField(nameInFile(path), field, knownFields(prefix)))
  }
}

/** Policy fields that a variable can set too, to apply precedence. */
function collectPolicy(policy: PolicyOverride, values: Map<Setting, unknown>): void {
  for (const setting of settings) {
    const [group, field, stage] = setting.split('.')
    if (group !== 'policy' || field === undefined) continue
    const value = policy[field as keyof PolicyOverride]
    const found = stage === undefined ? value : isPlainObject(value) ? value[stage] : undefined
    if (found !== undefined) values.set(setting, found)
  }
}

const settings: readonly Setting[] = [...new Set(variables.flatMap(({ sets }) => sets))]

function knownFields(prefix: string): string[] {
  const inside = settings.filter((setting) => setting.startsWith(prefix))
  return [...new Set(inside.map((setting) => setting.slice(prefix.length).split('.')[0] ?? ''))]
}
