// Converts one PDF per job through the gateway. While its breaker is open, no job is claimed.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { permanentError, unstuck } from 'unstuck'
import { writeWholeFile } from './write-whole-file.mjs'

const uploadsDir = process.env['UPLOADS_DIR'] ?? 'uploads'
const resultsDir = process.env['RESULTS_DIR'] ?? 'results'
const say = (/** @type {string} */ line) => console.log(`worker ${process.pid}: ${line}`)

const q = unstuck({ profile: 'converter', concurrency: 1, handleSignals: true })

q.handle(
  'convert',
  async (job, { gateway, fence }) => {
    const { source, name } = /** @type {{ source: string, name: string }} */ (job.payload)
    say(`converts ${name}`)
    const answer = await gateway('/convert', { method: 'POST', body: await readSource(source) })
    const file = join(resultsDir, `${job.jobId}.xml`)
    await writeWholeFile(file, await answer.text(), String(fence))
    return { file }
  },
  { dependency: 'gateway' },
)

/** @param {string} source */
async function readSource(source) {
  try {
    return await readFile(join(uploadsDir, source))
  } catch (cause) {
    throw permanentError('the uploaded PDF is gone', { code: 'EXPIRED', cause })
  }
}

q.on('job:ended', ({ job, end, code }) =>
  say(`job ${job.jobId} ${end}${code === undefined ? '' : `: ${code}`}`),
)
q.on('breaker:changed', ({ from, to }) => say(`the breaker of the gateway: ${from} → ${to}`))
q.on('job:reaped', ({ jobId, workerId }) => say(`took job ${jobId} back from ${workerId}`))
process.once('disconnect', () => process.exit(1))
await q.start()
process.exitCode = await q.ended
process.disconnect?.()
