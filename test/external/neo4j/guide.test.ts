import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { installNeo4j } from '../../../src/store/neo4j/install.ts'
import { openDriver } from '../../../src/store/neo4j/open-neo4j-store.ts'
import { clear } from './server/neo4j-harness.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

describe('docs/guides/tables/neo4j.md', () => {
  it('OPS-2 LEASE-6 the program of the guide does what it says', async () => {
    const guide = readFileSync(join(root, 'docs/guides/tables/neo4j.md'), 'utf8')
    const program = /```js\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
    const { driver } = openDriver(inject('neo4jUrl'))
    await installNeo4j({ driver })
    // Inside the package, so that it finds itself by its name.
    const folder = await mkdtemp(join(root, 'dist', '.guide-'))
    try {
      await clear(driver, 'EmbeddingJob')
      const file = join(folder, 'guide.mjs')
      await writeFile(file, program)
      const env = { ...process.env, NEO4J_URL: inject('neo4jUrl') }
      const { stdout } = await run(process.execPath, [file], { cwd: root, env })
      expect(stdout.trim()).toBe('{ leased: 2, reaped: 0, deleted: 0 }')
      const { records } = await driver.executeQuery(
        'MATCH (j:EmbeddingJob) RETURN j.status AS status ORDER BY status',
      )
      expect(records.map((record) => record.get('status') as string)).toEqual(['completed', 'pending'])
    } finally {
      await rm(folder, { recursive: true, force: true })
      await clear(driver, 'EmbeddingJob')
      await driver.close()
    }
  })
})
