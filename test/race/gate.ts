// Stops one connection inside a statement, after its snapshot and before its first row lock: the only way to reach the window
// between the two. The gate stands in a function that the statement's WHERE calls, in the test's database only.
import type pg from 'pg'
import { whenBlocked } from '../support/lock-wait.ts'
import type { Connection, Pending } from './race-bench.ts'

const GATE = 4711

/** The conditions of a reap and of a claim that are functions of ours, and so have room for a gate. */
const conditions = ['is_held', 'has_budget']

/** Once in a test file that closes gates. The conditions answer as before; on a connection without a gate they only answer. */
export async function buildGates(pool: pg.Pool): Promise<void> {
  for (const name of conditions) {
    const { rows } = await pool.query<{ parameters: string; count: number }>(
      `select pg_get_function_arguments(oid) as parameters, pronargs as count
         from pg_proc where oid = $1::regproc`,
      [`unstuck.${name}`],
    )
    const values = Array.from({ length: Number(rows[0]?.count) }, (_, index) => `$${index + 1}`)
    await pool.query(`
      alter function unstuck.${name} rename to ${name}_behind_gate;
      create function unstuck.${name}(${rows[0]?.parameters}) returns boolean language plpgsql as $$
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
  /** Starts a call on the gated connection, and resolves once it stands at the gate. */
  arrive: <T>(call: () => Promise<T>) => Promise<Pending<T>>
  open: () => Promise<void>
}

/** `keeper` is a third connection, which opens the gate. */
export async function closeGate(
  pool: pg.Pool,
  keeper: Connection,
  gated: Connection,
  condition: 'is_held' | 'has_budget',
): Promise<Gate> {
  await keeper.query('select pg_advisory_lock($1)', [GATE])
  await gated.query("select set_config('race.gate', $1, false)", [condition])
  return {
    arrive: async (call) => {
      const answer = call()
      answer.catch(() => {})
      await whenBlocked(pool, gated.pid)
      return { answer }
    },
    open: async () => {
      await keeper.query('select pg_advisory_unlock($1)', [GATE])
    },
  }
}
