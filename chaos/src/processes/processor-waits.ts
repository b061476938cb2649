// How long our processes were runnable without a CPU: the second field of schedstat, which Linux keeps for each thread. A
// worker that gets no CPU cannot send heartbeats, which proves nothing about the engine.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseName } from '../judge/shards.ts'
import type { ProcessSlot } from './process-slot.ts'

const NS_PER_MS = 1e6

export type Thread = { pid: number; isMain: boolean; waitedMs: number; turns: number }

/** CPU waits of a process, and of its children with `hasChildren`. */
class ProcessorWaits {
  #pid
  #hasChildren
  #before: Map<string, Thread> = new Map()

  constructor(pid: () => number | undefined, hasChildren: boolean = false) {
    this.#pid = pid
    this.#hasChildren = hasChildren
  }

  /**
   * The longest wait of any process since the last call; 0 if unknown. Counts the main thread and the thread that ran most
   * often, which in a worker is the heartbeat thread. The others compile and collect garbage, and may wait longer.
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

/** Pid of the server that currently runs on this data directory. */
export function serverPid(dataDir: string) {
  const pid = Number.parseInt(read(join(dataDir, 'postmaster.pid')), 10)
  return Number.isNaN(pid) ? undefined : pid
}

export function processesOf(
  { workers, reaper }: { workers: ProcessSlot[]; reaper: ProcessSlot },
  ...servers: (() => number | undefined)[]
) {
  return new Map([
    ...[...workers, reaper].map((slot) => [slot.name, new ProcessorWaits(() => slot.pid)] as const),
    ['run', new ProcessorWaits(() => process.pid)] as const,
    ...servers.map((server, shard) => [databaseName(shard), new ProcessorWaits(server, true)] as const),
  ])
}

function list(folder: string) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Empty if the process is gone or the system has no such file. */
function read(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
