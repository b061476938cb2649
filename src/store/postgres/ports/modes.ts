import { UnstuckError } from '../../../errors/index.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { ModeStatus, ModeStore, OnForeignSettle, TableMode } from '../../ports/mode-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { INSTALL_HINT } from '../connection/postgres-errors.ts'
import { retryOnLock } from '../migrate/session/retry-on-lock.ts'
import { date, dateOrNull } from '../rows/values.ts'

export function bindModeVerbs(call: CallQuery, { attachment }: TableProfile): ModeStore {
  const readRow = async (name: string): Promise<Row> => {
    const [row] = await call(name, [])
    if (row !== undefined) return row
    throw new UnstuckError('NOT_INSTALLED', `nothing is attached under the name ${attachment}`, {
      hint: INSTALL_HINT,
    })
  }
  return {
    readMode: async () => toModeStatus(await readRow('read_mode')),

    async readAttachment() {
      const row = await readRow('read_attachment')
      return {
        profile: String(row['profile']),
        relation: `${String(row['table_schema'])}.${String(row['table_name'])}`,
        attachedAt: date(row['attached_at']),
        ...toModeStatus(row),
      }
    },

    async setMode(mode, { onForeignSettle, actor, reason } = {}) {
      const params = [mode, onForeignSettle ?? null, actor ?? null, reason ?? null]
      // Creating the trigger waits for open writes to the table, and blocks all later ones meanwhile.
      const [row] = await retryOnLock({}, () => call('set_mode', params))
      return toModeStatus(row ?? {})
    },

    async readObservations() {
      const [row = {}] = await call('read_observations', [])
      const count = (name: string) => Number(row[name] ?? 0)
      return {
        since: dateOrNull(row['since']),
        wouldRequeue: count('would_requeue'),
        wouldDeadLetter: count('would_dead_letter'),
        wouldCancel: count('would_cancel'),
        cameBack: count('came_back'),
        stillStuck: count('still_stuck'),
        reaped: count('reaped'),
        gone: count('gone'),
      }
    },
  }
}

function toModeStatus(row: Row): ModeStatus {
  return {
    mode: row['mode'] as TableMode,
    onForeignSettle: row['on_foreign_settle'] as OnForeignSettle,
    since: dateOrNull(row['since']),
  }
}
