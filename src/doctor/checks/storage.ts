import { showDuration } from '../../policy/explain/show-duration.ts'
import type { RelationFacts, ServerFacts, TableFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

const MAX_DEAD_SHARE = 0.2
/** Below this, a ratio is meaningless. */
const MIN_DEAD_ROWS = 10_000
const ADVISED_SCALE_FACTOR = 0.02
const MAX_FILLFACTOR = 90

export function checkStorage(table: TableFacts, server: ServerFacts): Finding[] {
  const { name, relation } = table
  if (relation === null) return []
  return [
    ...checkKind(name, relation),
    ...checkVacuum(name, relation, server),
    ...checkFillfactor(name, relation),
    ...checkBeatIndexes(name, relation),
  ]
}

function checkKind(name: string, { isUnlogged, hasPrimaryKey, fixes }: RelationFacts): Finding[] {
  const findings: Finding[] = []
  if (isUnlogged) {
    findings.push(problem('unlogged', `${name} is unlogged: a server crash empties it`, fixes.setLogged))
  }
  if (!hasPrimaryKey) {
    const message = `${name} has no primary key: every write of a worker scans the whole table, and ids may not be unique`
    findings.push(problem('primary key', message, fixes.addPrimaryKey))
  }
  return findings
}

function checkVacuum(name: string, relation: RelationFacts, server: ServerFacts): Finding[] {
  const check = 'autovacuum'
  const { hasAutovacuum, scaleFactor, liveRows, deadRows, vacuumAgeMs, fixes } = relation
  if (!server.hasAutovacuum) {
    return [problem(check, 'autovacuum is off for the whole server', 'autovacuum = on, in postgresql.conf')]
  }
  if (!hasAutovacuum) {
    return [problem(check, `autovacuum is off for ${name}`, fixes.enableAutovacuum)]
  }
  const share = deadRows / Math.max(1, deadRows + liveRows)
  const last = vacuumAgeMs === null ? 'never vacuumed' : `last vacuum ${showDuration(vacuumAgeMs)} ago`
  const message = `${name}: ${Math.round(share * 100)} % dead rows, ${last}, scale factor ${scaleFactor}`
  if (deadRows < MIN_DEAD_ROWS || share < MAX_DEAD_SHARE) return [fine(check, message)]
  return [warning(check, message, scaleFactor > ADVISED_SCALE_FACTOR ? fixes.setScaleFactor : fixes.vacuum)]
}

function checkFillfactor(name: string, { fillfactor, fixes }: RelationFacts): Finding[] {
  const check = 'fillfactor'
  const percent = fillfactor ?? 100
  if (percent <= MAX_FILLFACTOR) return [fine(check, `${name}: ${percent}`)]
  const message = `${name}: ${percent} leaves no free space on a page, so a heartbeat moves the row and writes to every index`
  return [warning(check, message, fixes.setFillfactor)]
}

function checkBeatIndexes(name: string, { beatIndexes }: RelationFacts): Finding[] {
  return beatIndexes.map(({ name: index, columns, drop }) =>
    warning(
      'heartbeat index',
      `${index} of ${name} contains ${columns.join(', ')}, which every heartbeat updates: about 520 bytes of WAL per heartbeat instead of 97, and no HOT updates`,
      drop,
    ),
  )
}
