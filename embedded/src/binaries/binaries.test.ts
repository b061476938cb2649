import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startPostgres } from '../start-postgres.ts'
import { query } from '../testing/query.ts'
import { prepareBinaries, restoreSymlinks } from './binaries.ts'

const DEBIAN = '/usr/lib/postgresql'

let source: string

beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'unstuck-test-'))
  await mkdir(join(source, 'lib'))
  await writeFile(join(source, 'lib', 'libpq.so.5.18'), 'library')
  const links = ['libpq.so', 'libpq.so.5'].map((name) => ({
    source: 'native/lib/libpq.so.5.18',
    target: `native/lib/${name}`,
  }))
  await writeFile(join(source, 'pg-symlinks.json'), JSON.stringify(links))
})

afterEach(() => rm(source, { recursive: true, force: true }))

describe('the symbolic links of the binaries', () => {
  it('are made once, by however many processes ask at once, and mended when they dangle', async () => {
    await symlink('libpq.so.4', join(source, 'lib', 'libpq.so'))
    const made = await Promise.all(Array.from({ length: 8 }, () => restoreSymlinks(source)))
    expect(made).toEqual(Array(8).fill(true))
    expect((await readdir(join(source, 'lib'))).sort()).toEqual(['libpq.so', 'libpq.so.5', 'libpq.so.5.18'])
    expect(await readlink(join(source, 'lib', 'libpq.so'))).toBe('libpq.so.5.18')
    expect(await readFile(join(source, 'lib', 'libpq.so.5'), 'utf8')).toBe('library')
  })

  it('do not lead out of their folder', async () => {
    const list = [{ source: 'native/lib/libpq.so.5.18', target: 'native/../../planted' }]
    await writeFile(join(source, 'pg-symlinks.json'), JSON.stringify(list))
    await expect(restoreSymlinks(source)).rejects.toMatchObject({ code: 'UNTRUSTED_FOLDER' })
  })
})

describe('other binaries', () => {
  it('are refused when there is no PostgreSQL among them, or none that runs', async () => {
    await expect(prepareBinaries(source, undefined)).rejects.toMatchObject({ code: 'NO_BINARIES' })
    await mkdir(join(source, 'bin'))
    const script = '#!/bin/sh\necho "no such library" >&2\nexit 127\n'
    await writeFile(join(source, 'bin', 'postgres'), script, { mode: 0o755 })
    await expect(prepareBinaries(source, undefined)).rejects.toMatchObject({
      code: 'NO_BINARIES',
      message: expect.stringContaining('no such library'),
    })
  })

  it('of another version start a server of that version (needs a PostgreSQL of Debian)', async (context) => {
    const [version] = await readdir(DEBIAN).catch(() => [])
    const installed = version === undefined ? undefined : join(DEBIAN, version)
    if (installed === undefined || !(await stat(join(installed, 'bin', 'initdb')).catch(() => undefined)))
      context.skip()
    await using server = await startPostgres({ binaries: installed, persistent: false })
    expect(server.version.split('.')[0]).toBe(version)
    expect(await query(server.url, 'show server_version_num')).toEqual([expect.stringMatching(`^${version}`)])
  }, 120_000)
})
