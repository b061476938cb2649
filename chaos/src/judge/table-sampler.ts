// Samples the job table during the faults: lease fields against status (I15), and the longest expired lease (I16).
import { setTimeout as sleep } from 'node:timers/promises'
import type { TableProfile } from 'unstuck'
import { type ChaosDatabase, queryRows } from '../processes/database.ts'

export type SampleFields = { at_ms: number; mismatched: number; overdue_ms: number }
export interface Sample {
  at: number
  /** Rows whose lease fields contradict their status. */
  mismatched: number
  /** Age of the longest expired lease, 0 if none. */
  overdueMs: number
}

const EVERY_MS = 250

export class TableSampler {
  samples: Sample[] = []
  #isStopping = false
  #sql

  constructor(table: TableProfile) {
    this.#sql = sampleSql(table)
  }

  async run(database: Pick<ChaosDatabase, 'url' | 'withClient'>) {
    while (!this.#isStopping) {
      try {
        await database.withClient(async (client) => {
          while (!this.#isStopping) {
            const rows = (await queryRows(client, this.#sql)) as SampleFields[]
            for (const row of rows)
              this.samples.push({ at: row.at_ms, mismatched: row.mismatched, overdueMs: row.overdue_ms })
            await sleep(EVERY_MS)
          }
        })
      } catch {
        await sleep(EVERY_MS)
      }
    }
  }

  stop() {
    this.#isStopping = true
  }
}

function sampleSql({ schema, table, statuses }: TableProfile) {
  const running = statuses.running.map((word) => `'${word}'`).join(', ')
  return `select (extract(epoch from clock_timestamp()) * 1000)::float8 as at_ms,
                 (count(*) filter (where (status in (${running})) <> (lease_id is not null)
                                      or (lease_id is null) <> (lease_expires_at is null)))::int as mismatched,
                 greatest(0, extract(epoch from clock_timestamp() - min(lease_expires_at)
                   filter (where status in (${running}))) * 1000)::float8 as overdue_ms
            from ${schema}.${table}`
}
