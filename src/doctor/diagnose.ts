// Turns facts into findings. Every check is a pure function of the facts.
import type { GraphFacts } from '../store/ports/graph-facts.ts'
import { checkConnection } from './checks/connection.ts'
import { checkConnectionSlots } from './checks/connection-slots.ts'
import { checkDeadlines } from './checks/deadlines.ts'
import {
  checkBreakers,
  checkDispatches,
  checkQueues,
  checkReleases,
  checkUnhandled,
  checkUnheard,
} from './checks/held-back.ts'
import { checkHorizon } from './checks/horizon.ts'
import { checkIndexUse, checkSearch } from './checks/index-use.ts'
import { checkLeaseAndBeat } from './checks/lease-and-beat.ts'
import { checkMigrations } from './checks/migrations.ts'
import { checkPermissions } from './checks/permissions.ts'
import { checkPolicyDrift } from './checks/policy-drift.ts'
import { checkPooler } from './checks/pooler.ts'
import { checkPresence } from './checks/presence.ts'
import { checkLongOverdue, checkReaper, checkUnjudged } from './checks/reaper.ts'
import { checkExposure, checkHiddenRows } from './checks/row-security.ts'
import { checkStatusWords } from './checks/status-words.ts'
import { checkStorage } from './checks/storage.ts'
import { checkTimes } from './checks/times.ts'
import { diagnoseGraph } from './diagnose-graph.ts'
import type { DoctorFacts } from './facts.ts'
import { type Finding, problem } from './finding.ts'

export function diagnose(facts: DoctorFacts | GraphFacts): Finding[] {
  if ('nodes' in facts) return diagnoseGraph(facts)
  const { server, tables, unreadable } = facts
  return [
    ...checkConnection(facts),
    ...checkPooler(facts),
    ...checkConnectionSlots(facts),
    ...checkMigrations(facts),
    ...unreadable.map(({ what, reason }) => problem('unreadable', `${what}: ${reason}`, null)),
    ...tables.flatMap((table) => [
      ...checkPermissions(table, server.role),
      ...checkHiddenRows(table, server.role),
      ...checkExposure(table),
      ...checkIndexUse(table),
      ...checkSearch(table),
      ...checkLeaseAndBeat(table),
      ...checkPresence(table, facts.route),
      ...checkDeadlines(table),
      ...checkReaper(table, server),
      ...checkLongOverdue(table),
      ...checkUnjudged(table),
      ...checkStatusWords(table),
      ...checkTimes(table),
      ...checkStorage(table, server),
      ...checkPolicyDrift(table),
      ...checkQueues(table),
      ...checkUnhandled(table),
      ...checkReleases(table),
      ...checkDispatches(table),
    ]),
    ...checkBreakers(facts),
    ...checkUnheard(facts),
    ...checkHorizon(facts),
  ]
}
