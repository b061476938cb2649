// A replica that catches up when it is told to, and is promoted without what was committed since: the older state of the
// engine's tables, with times as old as they would be by now.
import type pg from 'pg'
import type { TableProfile } from '../../src/profile/profile.ts'
import { quoteIdentifier } from '../../src/store/postgres/render/identifiers.ts'

export interface Replica {
  catchUp(): Promise<void>
  /** Answers how much time has passed since it caught up; the times that came back are that much too young. */
  promote(): Promise<number>
  /** Time was moved. */
  noteElapsed(ms: number): void
}

const engineTables = ['events', 'sweeps', 'policies', 'kept_workers', 'workers']

/** Knows the jobs of one table, their events, the pulse and the policy. */
export async function createReplica(pool: pg.Pool, table: TableProfile, schema: string): Promise<Replica> {
  const engine = quoteIdentifier(schema)
  const copies = [
    { of: `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)}`, in: 'replica.jobs' },
    ...engineTables.map((name) => ({ of: `${engine}.${name}`, in: `replica.${name}` })),
  ]
  let elapsedMs = 0
  const makeTables = copies.map((copy) => `create table if not exists ${copy.in} (like ${copy.of})`)
  await pool.query(`create schema if not exists replica; ${makeTables.join('; ')}`)
  const catchUp = async () => {
    const fill = copies.map(
      (copy) => `delete from ${copy.in}; insert into ${copy.in} select * from ${copy.of}`,
    )
    await pool.query(fill.join('; '))
    elapsedMs = 0
  }
  await catchUp()
  return {
    catchUp,
    async promote() {
      const restore = copies.map(
        (copy) =>
          `delete from ${copy.of}; insert into ${copy.of} overriding system value select * from ${copy.in}`,
      )
      await pool.query(restore.join('; '))
      return elapsedMs
    },
    noteElapsed(ms) {
      elapsedMs += ms
    },
  }
}
