import { showKind } from '../../errors/index.ts'
import type { ProfileName } from '../../profile/shipped.ts'
import type { ConfigSource, ConfigSources } from '../config.ts'
import { type ConfigProblem, nameInFile, problem } from '../config-problem.ts'
import type { CheckedFile } from '../file/config-file.ts'
import { describeKind, readNumber, readText } from '../variables/value-kind.ts'
import type { Setting, Variable } from '../variables/variable.ts'
import { variablesOf } from '../variables/variables.ts'
import { libpqUrl } from './libpq-url.ts'
import { showRefusedUrl } from './show-url.ts'

/** A value that was set, and its source. */
export interface FoundValue {
  value: string | number
  source: Extract<ConfigSource, 'flag' | 'file' | `env ${string}`>
  /** For messages: the variable, the option, or the field of the config file. */
  name: string
  /** As it was written, for messages. */
  given: unknown
}

export interface Search extends Pick<ConfigSources, 'env' | 'flags'> {
  file: CheckedFile
  /** Profile whose variables apply; native for a team's own profile. */
  profile: ProfileName
  /** Its display name, if different. */
  profileName?: string
  problems: ConfigProblem[]
}

/**
 * Looks at the option, then at the variables in the order of the table, then at the config file. Only the first is checked:
 * others may belong to another program, such as a `DATABASE_URL` of another kind of database beside `UNSTUCK_DATABASE_URL`.
 */
export function findValue(setting: Setting, search: Search): FoundValue | undefined {
  const candidates = variablesOf(search.profile).filter(({ sets }) => sets.includes(setting))
  const whole = candidates.filter(({ isPart }) => isPart === undefined)
  for (const variable of whole) {
    const given = variable.flag === undefined ? undefined : search.flags?.[variable.flag]
    if (given !== undefined) return read(variable, given, 'flag', optionName(variable.flag ?? ''), search)
  }
  for (const variable of whole) {
    const given = search.env[variable.name]
    if (given !== undefined) return read(variable, given, `env ${variable.name}`, variable.name, search)
  }
  if (whole.length < candidates.length) {
    const url = libpqUrl(search.env, search.problems)
    if (url !== undefined) return { value: url, source: 'env PG*', name: 'PG*', given: url }
  }
  return findInFile(setting, whole, search)
}

function findInFile(setting: Setting, candidates: Variable[], search: Search): FoundValue | undefined {
  const given = search.file.values.get(setting)
  const name = nameInFile(setting)
  if (given === undefined) return undefined
  // Policy fields were checked when the file was read.
  if (setting.startsWith('policy.')) return { value: given as number, source: 'file', name, given }
  const [variable] = candidates
  // Settings of other profiles are allowed, so that one file can serve several.
  return variable === undefined ? undefined : read(variable, given, 'file', name, search)
}

function read(
  variable: Variable,
  given: unknown,
  source: FoundValue['source'],
  name: string,
  { problems }: Search,
): FoundValue | undefined {
  const value =
    typeof given === 'string'
      ? readText(variable.kind, given)
      : typeof given === 'number'
        ? readNumber(variable.kind, given)
        : undefined
  if (value !== undefined) return { value, source, name, given }
  problems.push(refusal(variable, name, given))
  return undefined
}

function refusal({ kind, isSecret, proposal }: Variable, name: string, given: unknown): ConfigProblem {
  const takes = describeKind(kind) + (proposal === undefined ? '' : `; ${proposal} is recommended`)
  if (!isSecret) return problem(name, given, takes)
  return { name, got: typeof given === 'string' ? showRefusedUrl(given) : showKind(given), takes }
}

function optionName(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
