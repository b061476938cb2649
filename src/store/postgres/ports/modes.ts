// How far the engine goes on a table, in the PostgreSQL store.
import { UnstuckError } from '../../../errors/index.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type {
  Attachment,
  ModeStatus,
  ModeStore,
  Observations,
  OnForeignSettle,
  TableMode,
} from '../../ports/mode-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { INSTALL_HINT } from '../connection/postgres-errors.ts'
import { retryOnLock } from '../migrate/retry-on-lock.ts'
import { PostgresRescues } from './reaping.ts'

export class PostgresModes extends PostgresRescues implements ModeStore {
  readonly #call: CallQuery
  readonly #attachment: string

  constructor(call: CallQuery, table: TableProfile) {
    super(call, table)
    this.#call = call
    this.#attachment = table.attachment
  }

  async readMode(): Promise<ModeStatus> {
    const [row] = await this.#call('read_mode', [])
    if (row !== undefined) return toModeStatus(row)
    throw this.#notAttached()
  }

  async readAttachment(): Promise<Attachment> {
    const [row] = await this.#call('read_attachment', [])
    if (row === undefined) throw this.#notAttached()
    return {
      profile: String(row['profile']),
      relation: `${String(row['table_schema'])}.${String(row['table_name'])}`,
      attachedAt: new Date(row['attached_at'] as string | Date),
      ...toModeStatus(row),
    }
  }

  #notAttached(): UnstuckError {
    return new UnstuckError('NOT_INSTALLED', `nothing is attached under the name ${this.#attachment}`, {
      hint: INSTALL_HINT,
    })
  }

  async setMode(
    mode: TableMode,
    { onForeignSettle }: { onForeignSettle?: OnForeignSettle } = {},
  ): Promise<ModeStatus> {
    // A trigger waits for the transactions that write to the table, and whoever comes then waits behind it.
    const [row] = await retryOnLock({}, () => this.#call('set_mode', [mode, onForeignSettle ?? null]))
    return toModeStatus(row ?? {})
  }

  async readObservations(): Promise<Observations> {
    const [row = {}] = await this.#call('read_observations', [])
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
  }
}

function toModeStatus(row: Row): ModeStatus {
  return {
    mode: row['mode'] as TableMode,
    onForeignSettle: row['on_foreign_settle'] as OnForeignSettle,
    since: dateOrNull(row['since']),
  }
}

/** As any driver gives it. */
function dateOrNull(value: unknown): Date | null {
  return value === null || value === undefined ? null : new Date(value as string | Date)
}
