// Embeds one text per job. Neither a limit of ours nor a 429 of the API costs an attempt.
import { isJobError, unstuck } from 'unstuck'

const apiUrl = process.env['EMBED_API_URL'] ?? ''
const [ratePerS, burst] = [Number(process.env['EMBED_RATE_PER_S']), Number(process.env['EMBED_BURST'])]
const say = (/** @type {string} */ line) => console.log(`worker ${process.pid}: ${line}`)

const q = unstuck({ profile: 'embedding', concurrency: 10, handleSignals: true })

q.handle(
  'embed',
  async (job, { gateway }) => {
    const { text } = /** @type {{ text: string }} */ (job.payload)
    try {
      const answer = await gateway(apiUrl, { method: 'POST', body: text })
      return /** @type {unknown} */ (await answer.json())
    } catch (error) {
      if (isJobError(error) && error.gatewayStatus === 429) {
        // Not a failure of the job: released until the time that the API named.
        const delayMs = error.retryAfterMs ?? 1_000
        say(`429 for "${text}": given back for ${delayMs} ms`)
        await q.store.releaseJobs([job], { delayMs })
      }
      throw error
    }
  },
  // One bucket for all workers together. Claimed jobs without a token are released in one statement.
  { limits: [{ key: 'embedding-api', ratePerS, burst }] },
)

q.on('limit:reached', ({ released, waitMs }) => {
  // The bucket is shared, so single tokens become available all the time.
  if (released > 1) say(`no tokens left: ${released} unstarted jobs released for ${Math.round(waitMs)} ms`)
})
q.on('job:ended', ({ job, end, code }) => {
  if (end === 'dead') say(`job ${job.jobId} is dead: ${code}`)
})
q.on('prune:done', ({ deleted }) =>
  say(`${deleted} ${deleted === 1 ? 'job' : 'jobs'} past the retention deleted`),
)
process.once('disconnect', () => process.exit(1))
await q.start()
process.exitCode = await q.ended
process.disconnect?.()
