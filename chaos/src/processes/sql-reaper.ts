// A reaper in plain SQL: a client that calls the sweep, as pg_cron or psql would. Runs no code of unstuck.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { SWEEP_MS } from '../settings.ts'

export class SqlReaper {
  #url
  #suffix
  #isStopping = false
  #loop: Promise<void> | undefined
  sweeps = 0
  failedSweeps = 0

  /** `suffix` of the table's functions: empty for the native table. */
  constructor(url: string, suffix: string) {
    this.#url = url
    this.#suffix = suffix
  }

  start() {
    this.#loop = this.#run()
  }

  async stop() {
    this.#isStopping = true
    await this.#loop
  }

  async #run() {
    while (!this.#isStopping) {
      const client = new pg.Client({ connectionString: this.#url, application_name: 'sql-reaper' })
      client.on('error', () => {})
      try {
        await client.connect()
        while (!this.#isStopping) {
          await client.query(`call unstuck.run_sweep${this.#suffix}('sql')`)
          this.sweeps++
          await sleep(SWEEP_MS)
        }
      } catch {
        this.failedSweeps++
        await sleep(100)
      } finally {
        await client.end().catch(() => {})
      }
    }
  }

  /** A sweep that stops between its writes and its commit, keeps its locks, and then commits or disappears. */
  async keepLocks(durationMs: number, isGone: boolean) {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'sql-reaper that stops' })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('begin')
      await client.query(`select unstuck.sweep_jobs${this.#suffix}('{"reaper_id": "stops"}')`)
      await sleep(durationMs)
      await client.query(isGone ? 'rollback' : 'commit')
    } finally {
      await client.end().catch(() => {})
    }
  }
}
