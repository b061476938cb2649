// @ts-check
// A worker for scripts/docs/take-screenshots.mjs. The payload of a job sets its duration and result.
import { setTimeout as waitFor } from 'node:timers/promises'
import { permanentError, unstuck } from 'unstuck'

/** @typedef {{ ms: number, code?: string, reason?: string }} Payload */

const TYPES = [
  { type: 'run_asr', queue: 'media', stage: 'asr' },
  { type: 'run_tsa', queue: 'media', stage: 'tsa' },
  { type: 'burn_in', queue: 'media', stage: 'burnin' },
  { type: 'upload_clip', queue: 'uploads', stage: 'upload' },
  { type: 'convert', queue: 'render', stage: 'convert' },
]

const workerId = String(process.env['WORKER_ID'])
const appVersion = String(process.env['APP_VERSION'])
const q = unstuck({ workerId, appVersion, concurrency: 8, handleSignals: true, pollMs: [100, 300] })
for (const { type, queue, stage } of TYPES)
  q.handle(
    type,
    async (job, { signal, stage: enter }) => {
      await enter(stage)
      const { ms, code, reason = '' } = /** @type {Payload} */ (job.payload)
      await waitFor(ms, undefined, { signal })
      if (code !== undefined) throw permanentError(reason, { code })
    },
    { queue },
  )
await q.start()
