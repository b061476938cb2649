import type { TableFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

/** Hidden rows look like missing rows: a reaper would find nothing and report no error. */
export function checkHiddenRows({ name, hiddenRows }: TableFacts, role: string): Finding[] {
  const check = 'row security'
  if (hiddenRows === null) return []
  if (hiddenRows.length === 0) return [fine(check, `role ${role} sees every row of ${name}`)]
  return hiddenRows.map(({ object, commands, isAll, fix }) => {
    const hides = isAll ? 'hides every row' : 'may hide rows'
    return problem(check, `row security of ${object} ${hides} from role ${role} (${commands})`, fix)
  })
}

/** No view or function of unstuck may show a role more than the job table does (OPS-11). */
export function checkExposure({ name, exposedObjects }: TableFacts): Finding[] {
  const check = 'exposure'
  if (exposedObjects === null) return []
  if (exposedObjects.length === 0)
    return [
      fine(check, `no view, function or table exposes more of ${name} than its grants and policies allow`),
    ]
  return exposedObjects.map(({ kind, object, role, isHidden, fix }) => {
    if (role === null) {
      const message = `${object} runs with the privileges of its owner: any role that can read it sees every job of ${name}`
      return warning(check, message, fix)
    }
    const cause = isHidden ? 'row security hides them from it' : 'it has no privileges on that table'
    const what = kind === 'function' ? 'act on jobs' : 'read data of jobs'
    const message = `${object} lets ${role} ${what} of ${name}, although ${cause}`
    return isHidden ? problem(check, message, fix) : warning(check, message, fix)
  })
}
