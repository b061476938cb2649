import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, chown, cp, mkdir, readFile, readlink, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startPostgres } from '../index.ts'
import {
  type InstalledApp,
  installApp,
  isNotLink,
  report,
  untilNothingRunsIn,
} from '../testing/installed-app.ts'
import { query } from '../testing/query.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const NOBODY = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const canMount = isRoot && spawnSync('unshare', ['-m', 'true']).status === 0

let app: InstalledApp

beforeAll(async () => {
  app = await installApp()
})

afterEach(() => app.killAll())
afterAll(() => app.remove())

describe('without rights', () => {
  it.skipIf(!isRoot)(
    'runs from a package folder that it cannot write to (needs root to change user)',
    async () => {
      const cwd = join(app.folder, 'home', 'app')
      await cp(dirname(app.main), cwd, { recursive: true, filter: isNotLink })
      await chown(cwd, NOBODY.uid, NOBODY.gid)
      const parent = app.launch({}, { cwd, env: { HOME: cwd, PATH: process.env['PATH'] }, ...NOBODY })
      const { url, dataDir, pid } = await report(parent)
      expect(dataDir).toBe(join(cwd, '.unstuck', 'postgres-18'))
      expect(await query(url, 'select 1')).toEqual([1])
      expect(await readlink(`/proc/${pid}/exe`)).toBe(
        `/var/tmp/unstuck-pg-${app.version}-${NOBODY.uid}/bin/postgres`,
      )
      expect(await readFile(join(cwd, '.unstuck', '.gitignore'), 'utf8')).toBe('*\n')
      parent.kill('SIGKILL')
      await untilNothingRunsIn(dataDir)
    },
  )

  it.skipIf(!isRoot)(
    'says whose the folder is when it may not use it (needs root to change user)',
    async () => {
      const closed = join(app.folder, 'closed')
      await mkdir(join(closed, 'data'), { recursive: true })
      await chmod(join(closed, 'data'), 0o700)
      expect(await report(app.launch({ dataDir: join(closed, 'new', 'data') }, NOBODY))).toMatchObject({
        code: 'NO_ACCESS',
        message: expect.stringContaining(`Cannot write to ${join(closed, 'new')}: permission denied`),
      })
      expect(await report(app.launch({ dataDir: join(closed, 'data') }, NOBODY))).toMatchObject({
        code: 'DATA_DIR_UNUSABLE',
        message: expect.stringContaining('another user'),
      })
    },
  )

  it.skipIf(!isRoot)('says so when its user has no name (needs root to change user)', async () => {
    const home = join(app.folder, 'nameless')
    await mkdir(home)
    await chown(home, 4_242, 4_242)
    const parent = app.launch({ dataDir: join(home, 'data') }, { uid: 4_242, gid: 4_242 })
    expect(await report(parent)).toMatchObject({
      code: 'NO_ACCESS',
      message: expect.stringContaining('user 4242'),
    })
  })
})

describe('as root', () => {
  it.skipIf(!isRoot)(
    'runs below a private folder, from a copy, and finds its data again (needs root)',
    async () => {
      const cwd = join(app.folder, 'private', 'app')
      await mkdir(dirname(cwd), { mode: 0o700 })
      await cp(dirname(app.main), cwd, { recursive: true })
      const first = app.launch({}, { cwd })
      const { url, dataDir, pid } = await report(first)
      expect(dataDir).toMatch(/^\/var\/tmp\/unstuck-pg-data\/[0-9a-f]{16}\/postgres-18$/)
      expect(await readlink(`/proc/${pid}/exe`)).toBe(`/var/tmp/unstuck-pg-${app.version}/bin/postgres`)
      expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(
        /^Uid:\t65534\t.*\nGid:\t65534\t.*(\n.*)*\nGroups:\t *$/m,
      )
      await query(url, 'create table kept as select 1 as id')
      first.kill('SIGKILL')
      await untilNothingRunsIn(dataDir)
      const second = app.launch({}, { cwd })
      const again = await report(second)
      expect(again.dataDir).toBe(dataDir)
      expect(await query(again.url, 'select id from kept')).toEqual([1])
      second.kill('SIGKILL')
      await untilNothingRunsIn(dataDir)
      await rm(dirname(dataDir), { recursive: true })
      await rmdir(dirname(dirname(dataDir))).catch(() => undefined)
    },
  )

  it.skipIf(!isRoot)('runs as the user to whom the data belongs (needs root)', async () => {
    const home = join(app.folder, 'somebody')
    const dataDir = join(home, 'data')
    const first = await startPostgres({ dataDir })
    await first.stop()
    execFileSync('chown', ['-R', '4242:4242', home])
    await chmod(home, 0o700)
    await chown(`${dataDir}.password`, 0, 0)
    await using server = await startPostgres({ dataDir })
    expect(server.dataDir).toBe(dataDir)
    expect(await readFile(`/proc/${server.pid}/status`, 'utf8')).toMatch(/^Uid:\t4242\t/m)
  })

  it.skipIf(!canMount)(
    'says so when the file system is read-only (needs root and mount namespaces)',
    async () => {
      const place = join(app.folder, 'mounted')
      await mkdir(place)
      const script = `mount -t tmpfs -o ro,mode=755 none "$1" && exec "$2" "$3" '{"dataDir":"new/data"}'`
      const args = ['-m', 'sh', '-c', `${script}`, 'sh', place, process.execPath, app.main]
      expect(spawnSync('unshare', args, { cwd: place, encoding: 'utf8' })).toMatchObject({
        status: 1,
        stdout: expect.stringContaining('the file system is read-only. Set dataDir'),
      })
    },
  )
})
