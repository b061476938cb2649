// Reads the profile that a config file defines instead of naming a shipped one. `given` is the export of a module, so every
// field is checked, and all problems are reported at once.
import { closestName } from '../../errors/index.ts'
import { type ExtendedProfile, profileFrom } from '../../profile/extend-profile.ts'
import type { OwnProfile, OwnTable } from '../../profile/own-profile.ts'
import { featureNames, logicalColumns, type Profile } from '../../profile/profile.ts'
import {
  isShippedProfile,
  type ProfileName,
  shippedProfile,
  shippedProfileNames,
} from '../../profile/shipped.ts'
import { type ConfigProblem, nameInFile, problem } from '../config-problem.ts'
import { isPlainObject, readPolicy, unknownField } from './policy-fields.ts'

/** Undefined if it has problems. */
export function readOwnProfile(
  given: Record<string, unknown>,
  problems: ConfigProblem[],
): Profile | undefined {
  const before = problems.length
  const isExtended = given['extends'] !== undefined
  checkFields(given, isExtended ? withoutRequired(profileRules, ['name']) : profileRules, 'profile', problems)
  const base = extendable.find((name) => name === given['extends'])
  if (Array.isArray(given['tables']) && (base !== undefined || !isExtended)) {
    for (const [index, table] of given['tables'].entries()) checkTable(table, index, problems, base)
    const most = base === undefined ? Number.POSITIVE_INFINITY : shippedProfile(base, '').tables.length
    if (given['tables'].length > most)
      problems.push(
        problem(nameInFile('profile.tables'), given['tables'].length, `at most ${most}, as ${base ?? ''}`),
      )
  }
  if (problems.length > before) return undefined
  return profileFrom(structuredClone(given) as unknown as OwnProfile | ExtendedProfile)
}

/** Native tables are the engine's own. */
const extendable = shippedProfileNames.filter((name) => name !== 'native')

/** Check of one field: `takes` completes the error message, `fields` are nested checks. */
interface Rule {
  takes: string
  accepts: (value: unknown) => boolean
  isRequired?: true
  fields?: Rules
}

type Rules = Readonly<Record<string, Rule>>
type RulesFor<Fields> = Readonly<Record<keyof Fields, Rule>>

const isText = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
const text: Rule = { takes: 'a non-empty text', accepts: isText }
const flag: Rule = { takes: 'true or false', accepts: (value) => typeof value === 'boolean' }
const optionalText: Rule = {
  takes: 'a non-empty text, or null',
  accepts: (value) => value === null || isText(value),
}
const words: Rule = { takes: 'a list of words, at least one', accepts: (value) => isListOf(value, isText) }
const required = (rule: Rule): Rule => ({ ...rule, isRequired: true })
const choice = (...names: string[]): Rule => ({
  takes: names.join(' or '),
  accepts: (value) => names.some((name) => name === value),
})
const object = (takes: string, fields: Rules): Rule => ({ takes, accepts: isPlainObject, fields })

/** All fields are optional: the extended profile has the others. */
const withoutRequired = (rules: Rules, except: string[] = []): Rules =>
  Object.fromEntries(
    Object.entries(rules).map(([field, { isRequired, fields, ...rule }]) => [
      field,
      {
        ...rule,
        ...(isRequired === true && except.includes(field) ? { isRequired } : {}),
        ...(fields === undefined ? {} : { fields: withoutRequired(fields) }),
      },
    ]),
  )

const profileRules: RulesFor<OwnProfile & Pick<ExtendedProfile, 'extends'>> = {
  extends: choice(...extendable),
  name: required({
    takes: 'letters, digits, - and _, and no name of a shipped profile',
    accepts: (value) => typeof value === 'string' && /^[\w-]{1,63}$/.test(value) && !isShippedProfile(value),
  }),
  tables: required({
    takes: 'a list of tables, at least one',
    accepts: (value) => Array.isArray(value) && value.length > 0,
  }),
  breakerMode: choice('hold', 'half-open'),
  isPruned: flag,
}

const statusRules: RulesFor<Required<OwnTable>['statuses']> = {
  waiting: required(text),
  running: required({ ...words, takes: 'a list of words; a claim writes the first' }),
  succeeded: required(text),
  dead: required(text),
  cancelled: optionalText,
}

const columnList: Rule = {
  takes: 'a list of columns, by their names in the engine',
  accepts: (value) => isListOf(value, isText),
}

/** A PostgreSQL function takes 100 arguments: a key and a value each. */
const MAX_PAYLOAD_COLUMNS = 50

const tableRules: RulesFor<OwnTable> = {
  attachment: text,
  schema: text,
  table: required(text),
  idType: required(choice('uuid', 'bigint', 'text')),
  columns: {
    takes: 'an object that maps the engine’s column names to the table’s',
    accepts: (value) => isPlainObject(value),
  },
  payload: {
    takes: `an object that maps keys of the payload to the table’s columns, at most ${MAX_PAYLOAD_COLUMNS}`,
    accepts: (value) =>
      isPlainObject(value) &&
      Object.keys(value).length <= MAX_PAYLOAD_COLUMNS &&
      Object.entries(value).flat().every(isText),
  },
  statuses: object('an object of status words', statusRules),
  stateColumns: object('an object of columns', { running: required(text), succeeded: text, dead: text }),
  ignoredStatuses: words,
  features: {
    takes: `a list of ${featureNames.join(', ')}`,
    accepts: (value) => isListOf(value, (name) => featureNames.some((feature) => feature === name)),
  },
  defaultType: optionalText,
  ageColumns: columnList,
  teamAgeColumns: {
    takes: 'a list of columns, by their names in the table',
    accepts: (value) => isListOf(value, isText),
  },
  timeZone: {
    takes: 'UTC, an offset such as +02:00, or a name such as Europe/Berlin',
    accepts: (value) =>
      typeof value === 'string' && /^([+-](0\d|1[0-5]):[0-5]\d|[A-Za-z][\w+/-]*)$/.test(value),
  },
  epochUnit: choice('s', 'ms'),
  teamEvents: {
    takes: 'null, or an object',
    accepts: (value) => value === null || isPlainObject(value),
    fields: { schema: text, table: required(text), jobIdColumn: required(text), dataColumn: required(text) },
  },
  hasLockTime: flag,
  hasUniqueDedupeKey: flag,
  lastError: object('an object', { column: required(text), requeued: required(text), dead: required(text) }),
  documentIndexes: {
    takes: 'a list of indexes, each with name and columns',
    accepts: (value) => isListOf(value, (item) => isPlainObject(item)),
  },
  policy: { takes: 'an object of policy fields', accepts: isPlainObject },
}

const indexRules: Rules = { name: required(text), columns: required(columnList) }

/** Fields of a table that only an extended profile has, or with another meaning. */
function differenceRules(base: ProfileName): Rules {
  const names = shippedProfile(base, '').tables.flatMap(({ teamObjects = [] }) =>
    teamObjects.map(({ name }) => name),
  )
  const renamed: Rule = {
    takes: 'another name, or false to leave it out',
    accepts: (value) =>
      value === false || (typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value)),
  }
  return {
    ...withoutRequired(tableRules),
    lastError: {
      takes: 'null, or an object',
      accepts: (value) => value === null || isPlainObject(value),
      fields: { column: text, requeued: text, dead: text },
    },
    teamObjects: object('an object of names', Object.fromEntries(names.map((name) => [name, renamed]))),
  }
}

function checkTable(
  table: unknown,
  index: number,
  problems: ConfigProblem[],
  base: ProfileName | undefined,
): void {
  const path = `profile.tables[${index}]`
  if (!isPlainObject(table)) {
    problems.push(problem(nameInFile(path), table, 'an object'))
    return
  }
  checkFields(table, base === undefined ? tableRules : differenceRules(base), path, problems)
  const { columns, ageColumns, documentIndexes, policy, statuses, stateColumns } = table
  if (base === undefined && statuses === undefined && stateColumns === undefined)
    problems.push({ name: nameInFile(`${path}.statuses`), got: null, takes: 'an object of status words' })
  if (isPlainObject(columns)) checkColumns(columns, `${path}.columns`, problems)
  checkNames(ageColumns, `${path}.ageColumns`, problems)
  if (Array.isArray(documentIndexes)) {
    for (const [place, item] of documentIndexes.filter(isPlainObject).entries()) {
      checkFields(item, indexRules, `${path}.documentIndexes[${place}]`, problems)
      checkNames(item['columns'], `${path}.documentIndexes[${place}].columns`, problems)
    }
  }
  if (isPlainObject(policy)) readPolicy(policy, (field) => nameInFile(`${path}.policy.${field}`), problems)
}

function checkFields(
  given: Record<string, unknown>,
  rules: Rules,
  path: string,
  problems: ConfigProblem[],
): void {
  for (const [field, value] of Object.entries(given)) {
    const name = `${path}.${field}`
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
    if (rule === undefined) problems.push(unknownField(nameInFile(name), field, Object.keys(rules)))
    else if (value === undefined) continue
    else if (!rule.accepts(value)) problems.push(problem(nameInFile(name), value, rule.takes))
    else if (rule.fields !== undefined && isPlainObject(value))
      checkFields(value, rule.fields, name, problems)
  }
  for (const [field, { isRequired, takes }] of Object.entries(rules)) {
    if (isRequired === true && given[field] === undefined)
      problems.push({ name: nameInFile(`${path}.${field}`), got: null, takes })
  }
}

function checkColumns(columns: Record<string, unknown>, path: string, problems: ConfigProblem[]): void {
  for (const [column, name] of Object.entries(columns)) {
    if (!isLogicalColumn(column))
      problems.push(unknownField(nameInFile(`${path}.${column}`), column, logicalColumns))
    else if (name !== undefined && !isText(name))
      problems.push(problem(nameInFile(`${path}.${column}`), name, 'the name of a column'))
  }
}

function checkNames(given: unknown, path: string, problems: ConfigProblem[]): void {
  if (!Array.isArray(given)) return
  for (const name of given.filter((item) => isText(item) && !isLogicalColumn(item))) {
    const near = closestName(String(name), logicalColumns, { maxEdits: 3 })
    const takes =
      near === undefined ? `one of ${logicalColumns.join(', ')}` : `a column: did you mean ${near}?`
    problems.push(problem(nameInFile(path), name, takes))
  }
}

const isLogicalColumn = (name: unknown) => logicalColumns.some((column) => column === name)

function isListOf(value: unknown, accepts: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(accepts)
}
