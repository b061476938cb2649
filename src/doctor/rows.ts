// Converts rows of sql/doctor to facts.
import type { ExposedObject, HiddenRows, HorizonHolder, RelationFacts, ServerFacts } from './facts.ts'

export type Row = Record<string, unknown>

const numberOrNull = (value: unknown) => (value == null ? null : Number(value))

export function toServer(
  row: Row,
  { hostClockMs, roundTripMs }: { hostClockMs: number; roundTripMs: number },
): ServerFacts {
  return {
    version: String(row['version']),
    versionNumber: Number(row['version_number']),
    now: new Date(Number(row['clock_ms'])),
    clockSkewMs: Number(row['clock_ms']) - hostClockMs,
    roundTripMs,
    isStandby: row['is_standby'] === true,
    hasAutovacuum: row['has_autovacuum'] === true,
    role: String(row['role']),
    canSeeOthers: row['can_see_others'] === true,
    hasCron: row['has_cron'] === true,
    connectionSlots: Number(row['connection_slots']),
  }
}

export function toHolder(row: Row): HorizonHolder {
  return {
    kind: row['kind'] as HorizonHolder['kind'],
    name: String(row['name']),
    state: String(row['state']),
    ageMs: numberOrNull(row['age_ms']),
    xminAge: numberOrNull(row['xmin_age']),
    fix: String(row['fix']),
  }
}

export function toHiddenRows(row: Row): HiddenRows {
  return {
    object: String(row['object']),
    commands: String(row['commands']),
    isAll: row['is_all'] === true,
    fix: String(row['fix']),
  }
}

export function toExposedObject(row: Row): ExposedObject {
  return {
    kind: row['kind'] as ExposedObject['kind'],
    object: String(row['object']),
    role: row['role'] as string | null,
    isHidden: row['is_hidden'] === true,
    fix: String(row['fix']),
  }
}

export function toRelation(row: Row): RelationFacts {
  return {
    isUnlogged: row['is_unlogged'] === true,
    hasPrimaryKey: row['has_primary_key'] === true,
    fillfactor: numberOrNull(row['fillfactor']),
    hasAutovacuum: row['has_autovacuum'] === true,
    scaleFactor: Number(row['scale_factor']),
    liveRows: Number(row['live_rows'] ?? 0),
    deadRows: Number(row['dead_rows'] ?? 0),
    vacuumAgeMs: numberOrNull(row['vacuum_age_ms']),
    beatIndexes: row['beat_indexes'] as RelationFacts['beatIndexes'],
    fixes: {
      setLogged: String(row['set_logged']),
      addPrimaryKey: String(row['add_primary_key']),
      setFillfactor: String(row['set_fillfactor']),
      enableAutovacuum: String(row['enable_autovacuum']),
      setScaleFactor: String(row['set_scale_factor']),
      vacuum: String(row['vacuum']),
      analyze: String(row['analyze']),
      scheduleSweeps: String(row['schedule_sweeps']),
    },
  }
}
