// The files of deploy/, as the programs that read them see them.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
// Maximum duration of a stop: the grace period of running jobs, then that of hanging handlers.
const LONGEST_STOP_MS = 25_000 + 5_000

interface Pm2App {
  name: string
  script: string
  args: string[]
  instances: number
  exec_mode: string
  kill_timeout: number
  treekill: boolean
}

function help(script: string, words: string[]) {
  return spawnSync(process.execPath, [script, ...words, '--help'], { encoding: 'utf8' })
}

it('OPS-6 start:reaper runs the reaper', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const [, ...words] = scripts['start:reaper']?.split(' && node ').at(-1)?.split(' ') ?? []
  expect(words).toEqual(['reaper'])
  expect(help(fileURLToPath(new URL('bin/unstuck.js', root)), words)).toMatchObject({ status: 0 })
})

it('OPS-6 the demo and start:reaper build only if a source is newer than the build', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const name of ['start', 'start:reaper'])
    expect(scripts[name]).toMatch(/^node scripts\/build-if-stale\.mjs && /)
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-stale-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['scripts', 'src/cli', 'dist']) mkdirSync(join(folder, name), { recursive: true })
  const script = join(folder, 'scripts/build-if-stale.mjs')
  copyFileSync(new URL('scripts/build-if-stale.mjs', root), script)
  const build = `node -e "fs.appendFileSync('builds', 'x'); fs.writeFileSync('dist/index.js', '')"`
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { build } }))
  writeFileSync(join(folder, 'src/cli/main.ts'), '')
  const buildsAfterStart = () => {
    expect(spawnSync(process.execPath, [script])).toMatchObject({ status: 0 })
    return existsSync(join(folder, 'builds')) ? readFileSync(join(folder, 'builds'), 'utf8').length : 0
  }
  expect(buildsAfterStart()).toBe(1)
  expect(buildsAfterStart()).toBe(1)
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(folder, 'src/cli/main.ts'), later, later)
  expect(buildsAfterStart()).toBe(2)
})

describe('PM2', () => {
  const { apps } = createRequire(import.meta.url)('../../../deploy/pm2/ecosystem.config.cjs') as {
    apps: Pm2App[]
  }
  const [reaper, worker] = apps

  it('OPS-6 the file loads, and its reaper is a single process', () => {
    expect(apps.map(({ name }) => name)).toEqual(['unstuck-reaper', 'unstuck-worker'])
    expect(reaper).toMatchObject({ instances: 1, exec_mode: 'fork' })
  })

  it('OPS-6 WORK-4 a stop waits for the grace, and leaves child processes to the worker', () => {
    expect(worker?.kill_timeout).toBeGreaterThan(LONGEST_STOP_MS)
    expect(worker).toMatchObject({ exec_mode: 'fork', treekill: false })
  })

  it.each(apps)('OPS-6 $name runs a command that exists', ({ script, args: [command = '', ...flags] }) => {
    expect(existsSync(script)).toBe(true)
    const { status, stdout } = help(script, [command])
    expect(status).toBe(0)
    expect(stdout).toContain(`unstuck ${command}`)
    for (const flag of flags.filter((word) => word.startsWith('--'))) expect(stdout).toContain(flag)
  })
})

describe('systemd', () => {
  const units = ['deploy/systemd/unstuck-reaper.service', 'deploy/systemd/unstuck-worker@.service']
  const isPresent = spawnSync('systemd-analyze', ['--version']).status === 0

  it.each(units)('OPS-6 %s starts a command that exists', (unit) => {
    const [, command = ''] = /^ExecStart=\/usr\/bin\/env node \S+\/unstuck\.js (\w+)/m.exec(read(unit)) ?? []
    expect(unit).toContain(`unstuck-${command}`)
    expect(help(fileURLToPath(new URL('bin/unstuck.js', root)), [command]).status).toBe(0)
  })

  it('OPS-6 WORK-4 SIGTERM goes to the worker alone, and the stop waits for the grace', () => {
    const worker = read('deploy/systemd/unstuck-worker@.service')
    expect(worker).toMatch(/^KillSignal=SIGTERM$/m)
    expect(worker).toMatch(/^KillMode=mixed$/m)
    const [, stopSec] = /^TimeoutStopSec=(\d+)$/m.exec(worker) ?? []
    expect(Number(stopSec) * 1_000).toBeGreaterThan(LONGEST_STOP_MS)
  })

  // systemd-analyze belongs to systemd, which containers and macOS do not have.
  const verify = isPresent ? it : it.skip
  verify.each(units)('OPS-6 systemd-analyze verify finds nothing to say about %s', (unit) => {
    const { status, stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', fileURLToPath(new URL(unit, root))],
      { encoding: 'utf8' },
    )
    const told = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('unstuck-'))
    expect({ status, told }).toEqual({ status: 0, told: [] })
  })
})
