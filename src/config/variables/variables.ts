// The table of all environment variables. Order is precedence: of the variables that set the same value, the first that is
// set wins.
import type { ProfileName } from '../../profile/shipped.ts'
import { connectionVariables } from './connection-variables.ts'
import { httpVariables } from './http-variables.ts'
import { policyVariables } from './policy-variables.ts'
import type { Default, Variable } from './variable.ts'
import { workerVariables } from './worker-variables.ts'

export const variableGroups: readonly { title: string; variables: readonly Variable[] }[] = [
  { title: 'Connection and profile', variables: connectionVariables },
  { title: 'Leases, attempts, backoff and retention', variables: policyVariables },
  { title: 'Worker, gateway and breaker', variables: workerVariables },
  { title: 'HTTP API', variables: httpVariables },
]

export const variables: readonly Variable[] = variableGroups.flatMap((group) => group.variables)

export function variablesOf(profile: ProfileName): Variable[] {
  return variables.filter((variable) => variable.profiles.includes(profile))
}

export function defaultOf(variable: Variable, profile: ProfileName): Default {
  const value = variable.default
  return typeof value === 'object' && value !== null ? (value[profile] ?? null) : value
}
