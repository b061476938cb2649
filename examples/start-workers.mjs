// Keeps worker processes running, as systemd or Kubernetes would: one that is killed is replaced.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** @import { ChildProcess } from 'node:child_process' */

/**
 * @param {object} options
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {number} options.count
 * @param {boolean} [options.isNode] has a channel to this process, so that it notices when this one dies
 */
export function startWorkers({ command, args, count, isNode = command === process.execPath }) {
  /** @type {Set<ChildProcess>} */
  const workers = new Set()
  let isStopping = false
  /** @type {(reason: Error) => void} */
  let fail = () => {}
  /** Rejects if a worker exits by itself: restarting would not help. */
  const failed = new Promise((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})

  const start = () => {
    const worker = spawn(command, args, {
      stdio: ['ignore', 'inherit', 'inherit', ...(isNode ? [/** @type {const} */ ('ipc')] : [])],
    })
    workers.add(worker)
    worker.once('error', fail)
    worker.once('exit', (code, signal) => {
      workers.delete(worker)
      if (isStopping) return
      if (signal === null) return fail(new Error(`worker ${worker.pid} left with exit code ${code}`))
      console.log(`worker ${worker.pid} was ended by ${signal}; another is started`)
      start()
    })
  }
  for (let n = 0; n < count; n++) start()

  return {
    failed,
    async stop() {
      isStopping = true
      await Promise.all(
        [...workers].map(async (worker) => {
          const gone = once(worker, 'exit')
          worker.kill('SIGTERM')
          await gone
        }),
      )
    },
  }
}
