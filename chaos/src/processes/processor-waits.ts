// How long our own processes were ready to run and had no processor: the second number of schedstat, which Linux keeps for every
// thread. A worker that cannot run cannot beat, and that is no fault of what is tested.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessSlot } from './process-slot.ts'

const NS_PER_MS = 1e6

export type Thread = { pid: number; isMain: boolean; waitedMs: number; turns: number }

/** Of a process and, with `hasChildren`, of those it started. */
class ProcessorWaits {
  #pid
  #hasChildren
  #before: Map<string, Thread> = new Map()

  constructor(pid: () => number | undefined, hasChildren: boolean = false) {
    this.#pid = pid
    this.#hasChildren = hasChildren
  }

  /**
   * Since the last look. Beside its main thread, of a process counts the one that ran most often: a worker's heartbeat thread. The
   * others compile and collect garbage, and may wait for long.
   * @returns of the process that waited longest; 0 where nobody can tell
   */
  sinceLast(): number {
    const pid = this.#pid()
    const threads = pid === undefined ? [] : threadsOf(this.#hasChildren ? [pid, ...childrenOf(pid)] : [pid])
    const since = threads.map(([key, thread]) => {
      const { waitedMs, turns } = this.#before.get(key) ?? thread
      return { ...thread, waitedMs: thread.waitedMs - waitedMs, turns: thread.turns - turns }
    })
    this.#before = new Map(threads)
    const busiest = new Map(
      since
        .filter(({ isMain }) => !isMain)
        .toSorted(byTurns)
        .map((thread) => [thread.pid, thread]),
    )
    return Math.max(
      0,
      ...[...since.filter(({ isMain }) => isMain), ...busiest.values()].map(({ waitedMs }) => waitedMs),
    )
  }
}

function byTurns(a: Thread, b: Thread) {
  return a.turns - b.turns
}

function threadsOf(pids: number[]): [string, Thread][] {
  return pids.flatMap((pid) =>
    list(`/proc/${pid}/task`).flatMap((id) => {
      const [, waitedNs, turns] = read(`/proc/${pid}/task/${id}/schedstat`).trim().split(' ').map(Number)
      if (waitedNs === undefined || turns === undefined) return []
      const thread = { pid, isMain: Number(id) === pid, waitedMs: waitedNs / NS_PER_MS, turns }
      return [[`${pid} ${id}`, thread] as [string, Thread]]
    }),
  )
}

function childrenOf(pid: number) {
  return read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
}

/** Of the server with this data directory, in whatever life it is. */
export function serverPid(dataDir: string) {
  const pid = Number.parseInt(read(join(dataDir, 'postmaster.pid')), 10)
  return Number.isNaN(pid) ? undefined : pid
}

export function processesOf(
  { workers, reaper }: { workers: ProcessSlot[]; reaper: ProcessSlot },
  server: () => number | undefined,
) {
  return new Map([
    ...[...workers, reaper].map((slot) => [slot.name, new ProcessorWaits(() => slot.pid)] as const),
    ['run', new ProcessorWaits(() => process.pid)],
    ['database', new ProcessorWaits(server, true)],
  ])
}

function list(folder: string) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Nothing where the process has gone, or the system has no such file. */
function read(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
