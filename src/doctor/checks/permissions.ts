import type { TableFacts } from '../facts.ts'
import { type Finding, fine, problem } from '../finding.ts'

export function checkPermissions({ name, missingRights }: TableFacts, role: string): Finding[] {
  const check = 'permissions'
  if (missingRights === null) return []
  if (missingRights.length === 0) return [fine(check, `role ${role} has all worker permissions on ${name}`)]
  return missingRights.map(({ object, missing, fix }) =>
    problem(check, `role ${role} lacks ${missing} on ${object}`, fix),
  )
}
