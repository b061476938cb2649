// Plain sessions that stand for workers: each holds a presence lock, and time passes by moving everything recorded back.
import pg from 'pg'
import { expect } from 'vitest'

const GRACE_MS = 2_000

export class PresenceBench {
  readonly pool: pg.Pool
  readonly sessions = new Map<string, pg.Client>()
  readonly #url: string

  constructor(url: string) {
    this.#url = url
    this.pool = new pg.Pool({ connectionString: url, max: 4 })
    // A server that restarts ends idle connections.
    this.pool.on('error', () => {})
  }

  async reset(): Promise<void> {
    await this.pool.query('delete from unstuck.jobs; delete from unstuck.workers; delete from unstuck.events')
    await this.pool.query(`select unstuck.write_policy('native', '{"presence": "auto"}')`)
  }

  async endSessions(): Promise<void> {
    await Promise.all([...this.sessions.values()].map((session) => session.end().catch(() => {})))
    this.sessions.clear()
  }

  async connect(name: string): Promise<pg.Client> {
    const session = new pg.Client({ connectionString: this.#url })
    session.on('error', () => {})
    await session.connect()
    this.sessions.set(name, session)
    return session
  }

  /** A worker takes its lock, as its process does at the start and when it returns. */
  async arrive(name: string): Promise<void> {
    await this.connect(name)
    await this.takeLock(name)
  }

  async takeLock(name: string): Promise<void> {
    const key = name.charCodeAt(0) * 1024
    await this.sessions
      .get(name)
      ?.query(`select unstuck.take_presence('native', $1, $2, $3)`, [name, key, GRACE_MS])
  }

  /** The process dies; PostgreSQL notices when the session has ended. */
  async die(name: string): Promise<void> {
    const session = this.sessions.get(name)
    const found = await session?.query<{ pid: number }>('select pg_backend_pid() as pid')
    this.sessions.delete(name)
    await session?.end()
    const isLeft = async () =>
      (await this.pool.query('select from pg_stat_activity where pid = $1', [found?.rows[0]?.pid])).rowCount
    await expect.poll(isLeft, { interval: 10 }).toBe(0)
  }

  async claimAs(name: string): Promise<string> {
    await this.pool.query(`select unstuck.enqueue_jobs('[{"type": "encode"}]')`)
    const { rows } = await this.pool.query(`select id from unstuck.claim_jobs($1, '{encode}', 1)`, [name])
    return rows[0].id
  }

  /** Returns how many are newly gone. */
  async look(): Promise<number> {
    const { rows } = await this.pool.query(`select newly_gone from unstuck.look_at_workers('native')`)
    return rows[0].newly_gone
  }

  /** As if everything so far had happened this much earlier. */
  async elapse(ms: number): Promise<void> {
    const earlier = (column: string) => `${column} = ${column} - ${ms} * interval '1 ms'`
    await this.pool.query(
      `update unstuck.workers set ${['vanished_at', 'absent_at', 'seen_at'].map(earlier).join()}`,
    )
    await this.pool.query(`update unstuck.jobs set ${['heartbeat_at', 'started_at'].map(earlier).join()}`)
  }

  /** Absent at every look for the grace. */
  async lookForTheGrace(): Promise<number> {
    let gone = await this.look()
    for (const ms of [1_000, 1_000]) {
      await this.elapse(ms)
      gone += await this.look()
    }
    return gone
  }

  async sweep(): Promise<{ id: string; action: string; reason: string }[]> {
    const { rows } = await this.pool.query(
      `select (unstuck.sweep_jobs('{"reaper_id": "test"}')) -> 'reaped' as reaped`,
    )
    return rows[0].reaped
  }
}
