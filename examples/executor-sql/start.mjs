// No worker in Node: Python works through psql, and the database sweeps itself. This starts these programs.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../open-database.mjs'
import { runExample } from '../run-example.mjs'
import { startWorkers } from '../start-workers.mjs'
import { hasProgram, keepRunning, runFile } from './psql.mjs'

const folder = resolve(process.argv[2] ?? '.unstuck/executor-sql')
const jobs = Number(process.argv[3] ?? 4)
const seconds = Number(process.argv[4] ?? 5)
const worker = fileURLToPath(new URL('worker.py', import.meta.url))
process.env['UNSTUCK_PROFILE'] = 'executor'

/** Debian's paths of PostgreSQL 15 and its pg_cron (packages postgresql-15 and postgresql-15-cron). */
const debian = {
  binaries: '/usr/lib/postgresql/15',
  extension: '/usr/share/postgresql/15/extension/pg_cron.control',
}
const cronSettings = {
  shared_preload_libraries: 'pg_cron',
  'cron.database_name': 'postgres',
  // Over a connection it would have to know the password.
  'cron.use_background_workers': 'on',
}

await runExample(async (atEnd) => {
  const missing = ['psql', 'python3'].filter((program) => !hasProgram(program))
  if (missing.length > 0) {
    console.error(`This example needs ${missing.join(' and ')}, which this machine does not have.`)
    process.exitCode = 1
    return
  }
  const database = await openDatabase({
    folder,
    tables: new URL('tables.sql', import.meta.url),
    server: existsSync(debian.extension) ? { binaries: debian.binaries, settings: cronSettings } : {},
  })
  atEnd(() => database.stop())
  console.log(database.description)
  runFile('enqueue.sql', { variables: { jobs, seconds }, isBare: true })
  console.log(
    `${unfinished()} jobs are queued; their leases are 4 s here, and 30 or 15 minutes in the profile`,
  )
  atEnd(startSweeps())
  const workers = startWorkers({ command: 'python3', args: [worker], count: 2 })
  atEnd(() => workers.stop())
  await Promise.race([untilDone(), workers.failed])
  console.log(runFile('report.sql'))
})

/** @returns {() => void} */
function startSweeps() {
  try {
    console.log(`pg_cron sweeps: ${runFile('schedule.sql', { isBare: true })}`)
    return () => {}
  } catch {
    console.log('the server has no pg_cron: a psql sweeps every second instead')
    return keepRunning('sweep.sql')
  }
}

function unfinished() {
  return Number(runFile('unfinished.sql', { isBare: true }))
}

async function untilDone() {
  while (unfinished() > 0) await delay(300)
}
