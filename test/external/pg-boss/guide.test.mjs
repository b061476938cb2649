// The code of docs/guides/interfaces/pg-boss.md, run as one program on the real pg-boss.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { after, before, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openBench } from './bench.mjs'

const page = new URL('../../../docs/guides/interfaces/pg-boss.md', import.meta.url)
// Inside the package, so that it can import itself by name as a user's project would.
const scratch = new URL('../../../.unstuck/docs/', import.meta.url)
const pgBoss = import.meta.resolve('pg-boss')

let bench

before(async () => {
  bench = await openBench()
})

after(() => bench.close())

it('REAP-12 the guide’s worker finishes a job that failed once, woken by pg-boss both times', async () => {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
  assert.equal(blocks.length, 3)
  const program = `${blocks.join('\n').replace("'pg-boss'", JSON.stringify(pgBoss))}
    async function makeClip({ attempt }) {
      console.log('attempt', attempt)
      if (attempt === 1) throw new Error('no disk')
      setTimeout(leave, 500)
    }
    async function leave() {
      console.log((await store.getJob(jobId)).status)
      await Promise.all([reaper.stop(), dispatcher.stop()])
      await boss.stop({ graceful: false })
      await deployment.close()
    }`
  mkdirSync(scratch, { recursive: true })
  const file = fileURLToPath(new URL('docs-guides-pg-boss.mjs', scratch))
  writeFileSync(file, program)
  await bench.store.writePolicy({ failureBackoffStepsMs: [1_000] })
  const env = { ...process.env, DATABASE_URL: bench.url, UNSTUCK_PROFILE: 'clip' }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 60_000 })
  assert.deepEqual(stdout.trim().split('\n'), ['attempt 1', 'attempt 2', 'succeeded'])
})
