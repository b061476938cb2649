// One job is one clip, and goes through three stages. Each has its own lease, and its program dies with this process.
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { transientError, unstuck } from 'unstuck'
import { programOf } from './programs.mjs'

/** @import { JobContext } from 'unstuck' */
/** @import { Files, Stage } from './programs.mjs' */

const folder = process.env['CLIPS_DIR'] ?? 'clips'
/** @type {Stage[]} */
const stages = ['clip', 'asr', 'burnin']
const say = (/** @type {string} */ line) => console.log(`worker ${process.pid}: ${line}`)

const q = unstuck({ profile: 'clip', table: 'jobs', concurrency: 1, handleSignals: true })

q.handle(
  'clip',
  async (job, context) => {
    const { name } = /** @type {{ name: string }} */ (job.payload)
    const files = await placeFiles(name)
    for (const stage of stages) {
      // A file under its final name is complete: results of an earlier attempt are reused.
      if (existsSync(files[stage])) say(`${name}: ${stage} is there already`)
      else await runStage(stage, name, files, context)
    }
    await removeParts(name)
    const { size } = await stat(files.burnin)
    return { file: files.burnin, bytes: size }
  },
  { progressLimitMs: 60_000 },
)

/**
 * @param {Stage} stage
 * @param {string} name
 * @param {Files} files
 * @param {JobContext} context
 */
async function runStage(stage, name, files, context) {
  await context.stage(stage)
  // The fence differs with every claim: two attempts never write to the same file.
  const part = `${files[stage]}.${context.fence}.part`
  const { command, args } = await programOf(stage, files, part)
  const { exitCode, signal, stderr } = await context.spawn(command, args, {
    onStart: ({ pid }) => say(`${name}: ${stage} runs as child ${pid}`),
    onStdout: () => context.progress(),
  })
  if (exitCode !== 0) throw transientError(`${stage} ended with ${exitCode ?? signal}: ${stderr.trim()}`)
  await putInPlace(part, files[stage])
  say(`${name}: ${stage} is done`)
}

/**
 * @param {string} name
 * @returns {Promise<Files>}
 */
async function placeFiles(name) {
  const place = join(folder, name)
  await mkdir(place, { recursive: true })
  return { clip: join(place, 'clip.mp4'), asr: join(place, 'sound.txt'), burnin: join(place, 'burned.mp4') }
}

/**
 * Flushed before it is renamed: a visible file is complete, also after a power cut.
 * @param {string} part
 * @param {string} file
 */
async function putInPlace(part, file) {
  const handle = await open(part, 'r+')
  await handle.sync()
  await handle.close()
  await rename(part, file)
}

/**
 * Partial files of killed attempts.
 * @param {string} name
 */
async function removeParts(name) {
  const parts = (await readdir(join(folder, name))).filter((file) => file.endsWith('.part'))
  for (const part of parts) await rm(join(folder, name, part), { force: true })
}

q.on('job:reaped', ({ jobId, stage, workerId }) =>
  say(`took job ${jobId} back from ${workerId}, which was lost in ${stage}`),
)
process.once('disconnect', () => process.exit(1))
await q.start()
process.exitCode = await q.ended
process.disconnect?.()
