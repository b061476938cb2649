// The list of shards, from a variable, an option or the config file: as JSON, or as addresses separated by spaces.
import type { ShardConfig } from '../config.ts'
import { type ConfigProblem, problem } from '../config-problem.ts'
import { readText } from '../variables/value-kind.ts'
import type { FoundValue } from './find-value.ts'

const MAX_NUMBER = 4_095
/** As many as have two digits in the names of their schemas. */
const MAX_COUNTED = 100
const fields = ['url', 'schema', 'number', 'isDraining']
const takes =
  'addresses of PostgreSQL, each with #schema if needed, or a JSON array of { url, schema, number, isDraining }'

export function readShards(
  found: FoundValue | undefined,
  { schema, databaseUrl }: { schema: string; databaseUrl: string | null },
  problems: ConfigProblem[],
): ShardConfig[] | null {
  if (found === undefined) return null
  const { name } = found
  const text = String(found.value).trim()
  if (/^\d+$/.test(text)) return countedShards(name, Number(text), { schema, databaseUrl }, problems)
  const entries = entriesOf(text)
  if (entries === null || entries.length === 0) {
    // Addresses may hold passwords: the value is not shown.
    problems.push({ name, got: 'another text', takes })
    return null
  }
  const shards = entries.map((entry, place) => readShard(entry, place, schema))
  const bad = shards.findIndex((shard) => shard === null)
  if (bad !== -1) {
    problems.push({ name, got: `an invalid shard at position ${bad}`, takes })
    return null
  }
  const known = shards.filter((shard) => shard !== null)
  const again = (keyOf: (shard: ShardConfig) => string | number) =>
    known.find((shard, place) => known.findIndex((other) => keyOf(other) === keyOf(shard)) !== place)
  const sameNumber = again(({ number }) => number)
  if (sameNumber !== undefined)
    problems.push(problem(name, `number ${sameNumber.number} twice`, 'each number once'))
  const samePlace = again(({ url, schema: own }) => `${url} ${own}`)
  if (samePlace !== undefined)
    problems.push(problem(name, `schema ${samePlace.schema} of one server twice`, 'each schema once'))
  if (known.every(({ isDraining }) => isDraining))
    problems.push(problem(name, 'only shards that drain', 'one that takes jobs'))
  return known.toSorted((a, b) => a.number - b.number)
}

/** `16` stands for the schemas `unstuck_00` to `unstuck_15` of the configured database, such as a Citus cluster. */
function countedShards(
  name: string,
  count: number,
  { schema, databaseUrl }: { schema: string; databaseUrl: string | null },
  problems: ConfigProblem[],
): ShardConfig[] | null {
  if (count < 2 || count > MAX_COUNTED)
    problems.push(problem(name, String(count), `2 to ${MAX_COUNTED} schemas, or ${takes}`))
  else if (databaseUrl === null)
    problems.push(problem(name, String(count), 'a number together with the address of the database'))
  else
    return Array.from({ length: count }, (_, number) => ({
      url: databaseUrl,
      schema: `${schema}_${String(number).padStart(2, '0')}`,
      number,
      isDraining: false,
    }))
  return null
}

function entriesOf(text: string): unknown[] | null {
  if (!text.trimStart().startsWith('[')) {
    return text
      .split(/\s+/)
      .filter((part) => part !== '')
      .map((part) => {
        const [url = '', schema] = part.split('#')
        return schema === undefined ? { url } : { url, schema }
      })
  }
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : null
  } catch {
    return null
  }
}

function readShard(entry: unknown, place: number, defaultSchema: string): ShardConfig | null {
  if (typeof entry !== 'object' || entry === null) return null
  if (Object.keys(entry).some((field) => !fields.includes(field))) return null
  const { url, schema = defaultSchema, number = place, isDraining = false } = entry as Partial<ShardConfig>
  const isUrl =
    typeof url === 'string' &&
    readText({ type: 'url', protocols: ['postgres:', 'postgresql:'] }, url) !== undefined
  const isSchema = typeof schema === 'string' && readText({ type: 'schema' }, schema) !== undefined
  const isNumber = Number.isInteger(number) && number >= 0 && number <= MAX_NUMBER
  return isUrl && isSchema && isNumber && typeof isDraining === 'boolean'
    ? { url, schema, number, isDraining }
    : null
}
