// Reads src/store/neo4j/cypher, which ships as it is. Nothing is read before it is needed, and nothing twice.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalidArgument } from '../../../errors/index.ts'

// The same from src and from dist.
const root = fileURLToPath(new URL('../../../../src/store/neo4j/cypher/', import.meta.url))
/** That the files are written with. */
export const DEFAULT_LABEL = 'EmbeddingJob'

const texts = new Map<string, string>()
const LABEL = /^[A-Z][A-Za-z0-9]{0,99}$/

/** One statement, with the label of the jobs for the one that the files are written with. */
export function readCypher(name: string, label: string): string {
  const key = `${label} ${name}`
  const text = texts.get(key) ?? render(readFileSync(join(root, `${name}.cypher`), 'utf8'), label)
  texts.set(key, text)
  return text
}

/** The names of all files that begin so, in their order. */
export function listCypher(prefix: string): string[] {
  return readdirSync(root)
    .filter((file) => file.startsWith(prefix) && file.endsWith('.cypher'))
    .map((file) => file.slice(0, -'.cypher'.length))
    .toSorted()
}

/** A label cannot be a parameter, so only letters and digits may be one. */
export function checkLabel(label: string): void {
  if (!LABEL.test(label)) throw invalidArgument('label', label, 'a capital, then letters and digits')
}

function render(text: string, label: string): string {
  return text.replaceAll(DEFAULT_LABEL, label)
}
