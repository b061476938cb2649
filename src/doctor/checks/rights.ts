import type { TableFacts } from '../facts.ts'
import { type Finding, fine, problem } from '../finding.ts'

export function checkRights({ name, missingRights }: TableFacts, role: string): Finding[] {
  const check = 'rights'
  if (missingRights === null) return []
  if (missingRights.length === 0) return [fine(check, `${role} may do what a worker of ${name} does`)]
  return missingRights.map(({ object, missing, fix }) =>
    problem(check, `${role} lacks ${missing} on ${object}`, fix),
  )
}
