// A bare worker loop: claims the next batch while it completes the last one.
import pg from 'pg'

const BATCH = 500

export async function startRawWorker(url, onJob, { claim, complete }) {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  let isStopping = false
  const run = async (job) => {
    const controller = new AbortController()
    await (async () => onJob(job.payload, controller.signal))()
  }
  const loop = (async () => {
    let claiming = claim(pool, BATCH)
    let completing = Promise.resolve()
    while (!isStopping) {
      const jobs = await claiming
      claiming = claim(pool, BATCH)
      if (jobs.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        continue
      }
      await Promise.all(jobs.map(run))
      await completing
      completing = complete(pool, jobs)
    }
    await Promise.all([claiming, completing])
  })()
  return {
    async stop() {
      isStopping = true
      await loop
      await pool.end()
    },
  }
}
