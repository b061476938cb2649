// The list of shards, from a variable, an option or the config file: as JSON, or as addresses separated by spaces.
import type { ShardConfig } from '../config.ts'
import { type ConfigProblem, problem } from '../config-problem.ts'
import { readText } from '../variables/value-kind.ts'
import type { FoundValue } from './find-value.ts'

const MAX_NUMBER = 4_095
const fields = ['url', 'schema', 'number', 'isDraining']
const takes =
  'addresses of PostgreSQL, each with #schema if needed, or a JSON array of { url, schema, number, isDraining }'

export function readShards(
  found: FoundValue | undefined,
  schema: string,
  problems: ConfigProblem[],
): ShardConfig[] | null {
  if (found === undefined) return null
  const { name } = found
  const entries = entriesOf(String(found.value))
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
