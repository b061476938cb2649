// Stops one connection inside a statement: after its snapshot, at the moment it writes a given row, with the rows that come
// later not yet locked. That is the only way to reach the window between a statement's snapshot and its row lock.
import type pg from 'pg'
import { whenBlocked } from '../support/lock-wait.ts'
import type { Connection, Pending } from './race-bench.ts'

const GATE = 4711

/** In every test file that closes gates, once: the trigger does nothing for a connection without a gate. */
export async function buildGates(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create or replace function public.wait_at_gate() returns trigger language plpgsql as $$
    begin
      if to_jsonb(new) @> nullif(current_setting('race.stop_at', true), '')::jsonb then
        perform pg_advisory_xact_lock(${GATE});
      end if;
      return new;
    end
    $$;
    create or replace trigger gate before insert or update on unstuck.jobs
      for each row execute function public.wait_at_gate()`)
}

export interface Gate {
  /** Starts a call on the gated connection, and resolves once it stands at the gate. */
  arrive<T>(call: () => Promise<T>): Promise<Pending<T>>
  open(): Promise<void>
}

/** `stopAt`: the columns that the written row has to have. */
export async function closeGate(
  pool: pg.Pool,
  keeper: Connection,
  gated: Connection,
  stopAt: { [column: string]: string },
): Promise<Gate> {
  await keeper.query('select pg_advisory_lock($1)', [GATE])
  await gated.query("select set_config('race.stop_at', $1, false)", [JSON.stringify(stopAt)])
  // Rows are locked and written one by one only where the plan does not first collect them all in a hash or a sort.
  await gated.query('set enable_hashjoin = off')
  await gated.query('set enable_mergejoin = off')
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
