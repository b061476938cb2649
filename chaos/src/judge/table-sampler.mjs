// Looks at the job table while the faults go on: lease fields against status (I15), and how long the oldest lease is over (I16).
import { setTimeout as sleep } from 'node:timers/promises'
import { queryRows } from '../processes/database.mjs'

/** @import { TableProfile } from 'unstuck' */
/** @typedef {{ at_ms: number, mismatched: number, overdue_ms: number }} SampleFields */
/** @import { ChaosDatabase } from '../processes/database.mjs' */
/**
 * @typedef {object} Sample
 * @property {number} at
 * @property {number} mismatched rows whose lease fields do not fit their status
 * @property {number} overdueMs of the lease that has been over the longest; 0 where none is
 */

const EVERY_MS = 250

export class TableSampler {
  /** @type {Sample[]} */
  samples = []
  #isStopping = false
  #sql

  /** @param {TableProfile} table */
  constructor(table) {
    this.#sql = sampleSql(table)
  }

  /** @param {Pick<ChaosDatabase, 'url' | 'withClient'>} database */
  async run(database) {
    while (!this.#isStopping) {
      try {
        await database.withClient(async (client) => {
          while (!this.#isStopping) {
            const rows = /** @type {SampleFields[]} */ (await queryRows(client, this.#sql))
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

/** @param {TableProfile} table */
function sampleSql({ schema, table, statuses }) {
  const running = statuses.running.map((word) => `'${word}'`).join(', ')
  return `select (extract(epoch from clock_timestamp()) * 1000)::float8 as at_ms,
                 (count(*) filter (where (status in (${running})) <> (lease_id is not null)
                                      or (lease_id is null) <> (lease_expires_at is null)))::int as mismatched,
                 greatest(0, extract(epoch from clock_timestamp() - min(lease_expires_at)
                   filter (where status in (${running}))) * 1000)::float8 as overdue_ms
            from ${schema}.${table}`
}
