// Turns facts about jobs in Neo4j into findings.
import type { GraphFacts } from '../store/ports/graph-facts.ts'
import { checkBreakers, checkQueues } from './checks/held-back.ts'
import { checkLeaseAndBeat } from './checks/lease-and-beat.ts'
import { checkMigrations } from './checks/migrations.ts'
import { checkGraph, checkNodes } from './checks/nodes.ts'
import { checkLongOverdue, checkReaper, checkUnjudged } from './checks/reaper.ts'
import { checkStatusWords } from './checks/status-words.ts'
import type { MigrationFacts, TableFacts } from './facts.ts'
import { type Finding, problem } from './finding.ts'

export function diagnoseGraph(facts: GraphFacts): Finding[] {
  const table: TableFacts = { ...notInGraphs, ...facts.table }
  return [
    ...checkGraph(facts),
    ...checkMigrations({ migrations: migrationsOf(facts) }),
    ...facts.unreadable.map(({ what, reason }) => problem('unreadable', `${what}: ${reason}`, null)),
    ...checkLeaseAndBeat(table),
    ...checkReaper(table, { hasCron: false }),
    ...checkLongOverdue(table),
    ...checkUnjudged(table),
    ...checkStatusWords(table),
    ...checkNodes(facts),
    ...checkQueues(table),
    ...checkBreakers(facts),
  ]
}

/** The constraints and indexes are all that is installed. */
function migrationsOf({ schema }: GraphFacts): MigrationFacts | null {
  if (schema === null) return null
  const { applied, pending } = schema
  const isCurrent = pending.length === 0
  return {
    isInstalled: applied.length > 0,
    applied,
    pending,
    unknown: [],
    engine: 'current',
    tables: [],
    isCurrent,
  }
}

const notInGraphs: Omit<TableFacts, keyof GraphFacts['table']> = {
  storeOverride: null,
  profileDrift: null,
  ownMaxima: null,
  ageRule: null,
  releasedOften: null,
  timesAhead: null,
  relation: null,
  missingRights: null,
  hiddenRows: null,
  exposedObjects: null,
  claim: null,
  sweep: null,
  searchIndexes: null,
  dispatchesWaiting: null,
  unhandled: null,
  workers: null,
}
