// The statements of src/store/neo4j/cypher, by name. A file holds several, each after a line `// name: …`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalidArgument } from '../../../errors/index.ts'
import { embeddingProfile } from '../../../profile/embedding.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import { namedStatements } from '../../named-statements.ts'

// The package ships the files as they are, so the path holds from src and from dist.
const root = fileURLToPath(new URL('../../../../src/store/neo4j/cypher/', import.meta.url))
/** The label in the files. */
const DEFAULT_LABEL = 'EmbeddingJob'

const LABEL = /^[A-Za-z]\w{0,99}$/
const rendered = new Map<string, string>()
let statements: Map<string, string> | undefined

function readStatements(): Map<string, string> {
  const files = readdirSync(root).filter((file) => file.endsWith('.cypher'))
  return new Map(files.flatMap((file) => namedStatements(readFileSync(join(root, file), 'utf8'))))
}

/** One statement, with `label` in place of the default one. */
export function readCypher(name: string, label: string): string {
  const key = `${label} ${name}`
  const known = rendered.get(key)
  if (known !== undefined) return known
  statements ??= readStatements()
  const statement = statements.get(name)
  if (statement === undefined) throw new Error(`src/store/neo4j/cypher has no statement named ${name}`)
  const text = statement.replaceAll(DEFAULT_LABEL, label)
  rendered.set(key, text)
  return text
}

/** Names with this prefix, sorted. */
export function listCypher(prefix: string): string[] {
  statements ??= readStatements()
  return [...statements.keys()].filter((name) => name.startsWith(prefix)).toSorted()
}

/** The shipped profile names a table of PostgreSQL; an extended one names the label. */
export function labelOf({ table }: Pick<TableProfile, 'table'>): string {
  return table === embeddingProfile.tables[0].table ? DEFAULT_LABEL : table
}

/** A label cannot be a parameter, and names of indexes start with it: it is written as it is, so nothing may need quotes. */
export function checkLabel(label: string): void {
  if (!LABEL.test(label))
    throw invalidArgument('label', label, 'a letter, then letters, digits and underscores, 100 at most')
}
