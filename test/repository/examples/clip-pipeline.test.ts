// examples/clip-pipeline: a worker is killed while its program writes the last file.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { isRunning, makeDatabase, makeFolder, startExample } from './example-process.ts'

vi.setConfig({ testTimeout: 120_000 })

it('REAP-1 the clip pipeline: a worker killed in burnin loses its child and no clip, and the file is whole', async () => {
  const folder = makeFolder()
  const { url, pool } = await makeDatabase()
  const example = startExample('clip-pipeline/start.mjs', { args: [folder, '1'], env: { DATABASE_URL: url } })
  const [, worker, child] = await example.said(/worker (\d+): clip-1: burnin runs as child (\d+)/)
  const clip = join(folder, 'clips', 'clip-1')
  const half = () => readdirSync(clip).find((name) => name.startsWith('burned') && sizeOf(clip, name) > 0)
  await vi.waitUntil(half, { timeout: 30_000 })
  process.kill(Number(worker), 'SIGKILL')
  await vi.waitUntil(() => !isRunning(Number(child)), { timeout: 30_000 })
  expect(half()).toBe('burned.mp4.1.part')
  const halfBytes = sizeOf(clip, 'burned.mp4.1.part')

  await example.finished()
  const { rows } = await pool.query('select * from jobs')
  expect(rows).toMatchObject([{ status: 'completed', stage: 'burnin' }])
  const events = await pool.query(
    `select data -> 'details' ->> 'stage' as stage, data -> 'details' ->> 'locked_by' as worker
       from job_events where data ->> 'type' = 'reaper:requeued'`,
  )
  expect(events.rows).toContainEqual({ stage: 'burnin', worker: expect.stringContaining(`:${worker}:`) })

  const file = join(clip, 'burned.mp4')
  const bytes = sizeOf(clip, 'burned.mp4')
  expect(rows[0].result).toEqual({ file, bytes })
  expect(bytes).toBeGreaterThan(halfBytes)
  expect(isComplete(readFileSync(file))).toBe(true)
  expect(readdirSync(clip).toSorted()).toEqual(['burned.mp4', 'clip.mp4', 'sound.txt'])
  // Stages that were finished before the kill did not run again.
  expect(example.lines.filter((line) => line.includes('asr runs as child'))).toHaveLength(1)
})

const sizeOf = (folder: string, name: string) => statSync(join(folder, name)).size

/** An mp4 ends with its index (moov); the stand-in's file has as many frames as it begins with, and an end. */
function isComplete(content: Buffer): boolean {
  if (content.includes('ftyp')) return content.includes('moov')
  const [head = '', ...lines] = content.toString().trimEnd().split('\n')
  return lines.at(-1) === 'end' && head === `frames ${lines.length - 1}`
}
