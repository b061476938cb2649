// Stops one connection inside a statement, after its snapshot and before its first row lock: the only way to reach the window
// between the two. The gate stands in a function that the statement calls, in the test's database only.
import type pg from 'pg'
import { whenBlocked } from '../support/lock-wait.ts'
import type { Connection, Pending } from './race-bench.ts'

const GATE = 4711

/**
 * Functions of ours that have room for a gate: the conditions of a reap and of a claim, what a beat works out for a
 * row after its conditions and before it writes, where a stage has a lease of its own, and the groups that a claim examines.
 */
const gated = ['is_held', 'has_budget', 'stage_lease_ms', 'groups_from'] as const

/** Once in a test file that closes gates. The functions answer as before; on a connection without a gate they only answer. */
export async function buildGates(pool: pg.Pool): Promise<void> {
  for (const name of gated) {
    const { rows } = await pool.query<{ parameters: string; result: string; count: number }>(
      `select pg_get_function_arguments(oid) as parameters, pg_get_function_result(oid) as result, pronargs as count
         from pg_proc where oid = $1::regproc`,
      [`unstuck.${name}`],
    )
    const values = Array.from({ length: Number(rows[0]?.count) }, (_, index) => `$${index + 1}`)
    await pool.query(`
      alter function unstuck.${name} rename to ${name}_behind_gate;
      create function unstuck.${name}(${rows[0]?.parameters}) returns ${rows[0]?.result} language plpgsql
      set lock_timeout = 0 as $$
      begin
        if current_setting('race.gate', true) = '${name}' then
          perform set_config('race.gate', 'passed', false);
          perform pg_advisory_xact_lock(${GATE});
        end if;
        return unstuck.${name}_behind_gate(${values.join(', ')});
      end
      $$`)
  }
}

export interface Gate {
  /** Starts a call on the visiting connection, and resolves once it stands at the gate. */
  arrive: <T>(call: () => Promise<T>) => Promise<Pending<T>>
  open: () => Promise<void>
}

/** `keeper` is a third connection, which opens the gate. */
export async function closeGate(
  pool: pg.Pool,
  keeper: Connection,
  visitor: Connection,
  name: (typeof gated)[number],
): Promise<Gate> {
  await keeper.query('select pg_advisory_lock($1)', [GATE])
  await visitor.query("select set_config('race.gate', $1, false)", [name])
  return {
    arrive: async (call) => {
      const answer = call()
      answer.catch(() => {})
      await whenBlocked(pool, visitor.pid)
      return { answer }
    },
    open: async () => {
      await keeper.query('select pg_advisory_unlock($1)', [GATE])
    },
  }
}
