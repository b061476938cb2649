// One worker of one contender. Its handlers log their effects to a ledger file, one write per line.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Handle, isContenderId, loadContender, type Note } from './contender.ts'

export type Order = { kind: 'block'; durationMs: number }

const START_RETRY_MS = 300
const workerId = process.env['CHAOS_WORKER'] ?? ''
const id = process.env['CHAOS_CONTENDER'] ?? ''
const ledger = openSync(process.env['CHAOS_LEDGER'] ?? '', 'a')
// The audit triggers identify writers by session name.
const url = new URL(process.env['DATABASE_URL'] ?? '')
url.searchParams.set('application_name', workerId)

function note(kind: Parameters<Note>[0], fields: Parameters<Note>[1]): ReturnType<Note> {
  writeSync(ledger, `${JSON.stringify({ kind, at: Date.now(), worker: workerId, ...fields })}\n`)
}

async function handle(
  { key, workMs }: Parameters<Handle>[0],
  signal: Parameters<Handle>[1],
): ReturnType<Handle> {
  note('started', { job: key })
  try {
    await sleep(workMs, undefined, signal === undefined ? {} : { signal })
    note('effect', { job: key })
  } catch (error) {
    note('told-to-stop', { job: key })
    throw error
  } finally {
    note('ended', { job: key })
  }
}

/** Retries while the database is down. */
async function startWorker() {
  if (!isContenderId(id)) throw new Error(`${id} is no contender`)
  const contender = await loadContender(id)
  for (;;) {
    try {
      return await contender.startWorker({ url: url.href, workerId, handle, note })
    } catch (error) {
      note('start-failed', { error: String(error) })
      await sleep(START_RETRY_MS)
    }
  }
}

const onParentGone = () => process.exit(1)
process.once('disconnect', onParentGone)
process.on('message', ({ durationMs }: Order) => {
  const until = performance.now() + durationMs
  while (performance.now() < until);
})
/** Lets the process exit on its own: writes may still be in progress when a worker reports that it has stopped. */
async function leave() {
  const worker = await starting
  await worker.stop()
  process.off('disconnect', onParentGone)
  process.disconnect?.()
}

const starting = startWorker()
process.once('SIGTERM', () => void leave())
await starting
note('worker-started', {})
process.send?.({ kind: 'ready' })
