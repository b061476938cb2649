// The test bench: a PostgreSQL with the clip tables, unstuck attached to them, pg-boss beside it, worker processes,
// and a door in front of the database that can be shut.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@unstuck/embedded'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { clipProfile } from '../../../dist/profile/index.js'
import { createPostgresStore, migrateUp } from '../../../dist/store/postgres/index.js'

/** The tables as an application made them, from the fixture of the other tests. */
const clipTables = /`([\s\S]*)`/.exec(
  readFileSync(new URL('../../support/tables/clip-tables.ts', import.meta.url), 'utf8'),
)[1]

const policy = { dispatch: 'requeued', reapBackoffStepsMs: [1_500], requeueRatePerS: 0 }

export async function openBench() {
  const server = await startPostgres({ persistent: false, settings: { fsync: 'off' } })
  const pool = new pg.Pool({ connectionString: server.url })
  pool.on('error', () => {})
  await pool.query(clipTables)
  await migrateUp({ databaseUrl: server.url, schema: 'unstuck', profile: clipProfile })
  const store = createPostgresStore({ client: pool, table: clipProfile.tables[0] })
  await store.writePolicy(policy)
  const door = await openDoor(new URL(server.url))
  const boss = new PgBoss({ connectionString: door.url, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue('clip', { retryLimit: 0 })
  const workers = []
  return {
    url: server.url,
    pool,
    store,
    boss,
    door,
    startWorker: async (workerId, ending) => {
      const worker = await startWorker(server.url, workerId, ending)
      workers.push(worker)
      return worker
    },
    /** As pg-boss has them, oldest first. */
    listMessages: async () =>
      (
        await pool.query(
          `select id, data, state, start_after, created_on from pgboss.job order by created_on`,
        )
      ).rows,
    async reset() {
      await Promise.all(workers.splice(0).map((worker) => worker.kill()))
      await pool.query('truncate jobs, unstuck.dispatches; delete from pgboss.job')
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.kill()))
      await boss.stop({ graceful: false })
      door.shut()
      await pool.end()
      await server.stop()
    },
  }
}

async function startWorker(url, workerId, ending) {
  const script = fileURLToPath(new URL('worker.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, url, workerId, ending], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = []
  const waiting = new Set()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line))
    for (const look of waiting) look()
  })
  const worker = {
    lines,
    /** Resolves with all lines so far as soon as `isEnough` says so. */
    told: (isEnough) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isEnough(lines)) return
          waiting.delete(look)
          resolve(lines)
        }
        waiting.add(look)
        look()
      }),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
  await worker.told((told) => told.some(({ ready }) => ready === workerId))
  return worker
}

/** A way to the database that can be shut: what runs through it breaks, and nothing new gets in. */
async function openDoor(url) {
  const sockets = new Set()
  let isShut = false
  const door = createServer((outside) => {
    if (isShut) return outside.destroy()
    const inside = connect(Number(url.port), url.hostname)
    for (const [socket, other] of [
      [outside, inside],
      [inside, outside],
    ]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await once(door.listen(0, '127.0.0.1').unref(), 'listening')
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(door.address().port)
  return {
    url: through.href,
    shut() {
      isShut = true
      for (const socket of sockets) socket.destroy()
    },
    open() {
      isShut = false
    },
  }
}
