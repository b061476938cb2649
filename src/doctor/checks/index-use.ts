import type { IndexUse, TableFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

/** Below this, PostgreSQL may read the whole table or use any index: the cost is the same. */
const MIN_ROWS = 10_000

export function checkIndexUse(table: TableFacts): Finding[] {
  return [...checkVerb('claim', table.claim, table), ...checkVerb('sweep', table.sweep, table)]
}

/** From this size on, a search for a rare job takes more than 20 pages. */
const SEARCHED_ROWS = 1_000_000

/** Not a fault: the indexes cost every job, and only some teams search by these columns. */
export function checkSearch({ name, relation, searchIndexes }: TableFacts): Finding[] {
  if (searchIndexes === null || (relation?.liveRows ?? 0) < SEARCHED_ROWS) return []
  return searchIndexes.map(({ column, create }) => ({
    ...fine('search index', `none: a search of ${name} by ${column} reads 10,000 jobs a step`),
    fix: create,
  }))
}

function checkVerb(verb: 'claim' | 'sweep', use: IndexUse | null, { name, relation }: TableFacts): Finding[] {
  if (use === null) return []
  const check = `${verb} index`
  if (!use.isThere) {
    const message = `${name} has no valid index ${use.expected}: every ${verb} reads ${use.used.join(', ')}`
    return [problem(check, message, use.create)]
  }
  if (use.used.includes(use.expected)) return [fine(check, `${verb}s of ${name} use ${use.expected}`)]
  if ((relation?.liveRows ?? 0) < MIN_ROWS) {
    return [fine(check, `${verb}s of ${name} can use ${use.expected}; the table is small`)]
  }
  const message = `${verb}s of ${name} use ${use.used.join(', ')} instead of ${use.expected}`
  return [warning(check, message, relation?.fixes.analyze ?? null)]
}
