import { closestName } from '../../errors/index.ts'
import type { Setting, Variable } from '../variables/variable.ts'
import { variables, variablesOf } from '../variables/variables.ts'
import type { Search } from './find-value.ts'

const OUR_PREFIX = 'UNSTUCK_'
const PREFIXES = [OUR_PREFIX, 'REAPER_']
/** Set by Kubernetes for a service called `unstuck` or `reaper`. */
const SERVICE_LINK = /_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

/** Reports variables without effect: probable typos, and variables of other profiles. */
export function findStrayNames(
  search: Search,
  isSet: (setting: Setting) => boolean,
  warnings: string[],
): void {
  const known = new Set(variables.map(({ name }) => name))
  const used = variablesOf(search.profile)
  const missing = new NamesByLength(
    used.filter(({ isPart, sets }) => isPart === undefined && !sets.some(isSet)).map(({ name }) => name),
  )
  for (const name of Object.keys(search.env).toSorted()) {
    if (search.env[name] === undefined || known.has(name) || SERVICE_LINK.test(name)) continue
    if (PREFIXES.some((prefix) => name.toUpperCase().startsWith(prefix))) judgeOurs(name, search, warnings)
    else warnOfNearMiss(name, missing, warnings)
  }
  for (const variable of variables) {
    if (search.env[variable.name] === undefined || used.includes(variable) || isOthersBusiness(variable))
      continue
    warnings.push(
      `${variable.name}: is set, but has no effect in the profile ${search.profileName ?? search.profile}`,
    )
  }
}

/** Only unstuck reads these names, so a near miss is a mistake that would go unnoticed. */
function judgeOurs(name: string, { problems }: Search, warnings: string[]): void {
  const known = variables
    .map((variable) => variable.name)
    .filter((candidate) => PREFIXES.some((prefix) => candidate.startsWith(prefix)))
  const near = closestName(name, known, { maxEdits: 3, allowsEndings: true })
  if (near !== undefined) {
    problems.push({ name, got: 'an unknown name', takes: `nothing: did you mean ${near}?` })
  } else if (name.startsWith(OUR_PREFIX)) {
    warnings.push(`${name}: is set, but there is no such variable`)
  }
}

/** These may belong to other programs, so a near miss is only a warning. */
function warnOfNearMiss(name: string, missing: NamesByLength, warnings: string[]): void {
  const maxEdits = name.length < 12 ? 1 : 2
  const near = closestName(name, missing.about(name.length, maxEdits), { maxEdits })
  if (near !== undefined)
    warnings.push(`${name}: is set, but there is no such variable; did you mean ${near}?`)
}

/** Every start of a program compares each environment variable with each name: most differ in length by more than a few edits. */
class NamesByLength {
  readonly #names = new Map<number, string[]>()

  constructor(names: string[]) {
    for (const name of names) {
      const same = this.#names.get(name.length)
      if (same === undefined) this.#names.set(name.length, [name])
      else same.push(name)
    }
  }

  about(length: number, maxEdits: number): string[] {
    const names: string[] = []
    for (let edits = -maxEdits; edits <= maxEdits; edits++)
      names.push(...(this.#names.get(length + edits) ?? []))
    return names
  }
}

/** Directories and addresses with such general names often belong to the application. */
function isOthersBusiness({ kind }: Variable): boolean {
  return kind.type === 'text' || kind.type === 'url'
}
