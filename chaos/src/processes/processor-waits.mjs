// How long our own processes were ready to run and had no processor: the second number of schedstat, which Linux keeps for every
// thread. A worker that cannot run cannot beat, and that is no fault of what is tested.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @import { ProcessSlot } from './process-slot.mjs' */

const NS_PER_MS = 1e6

/** @typedef {{ pid: number, isMain: boolean, waitedMs: number, turns: number }} Thread */

/** Of a process and, with `hasChildren`, of those it started. */
class ProcessorWaits {
  #pid
  #hasChildren
  /** @type {Map<string, Thread>} */
  #before = new Map()

  /**
   * @param {() => number | undefined} pid
   * @param {boolean} [hasChildren]
   */
  constructor(pid, hasChildren = false) {
    this.#pid = pid
    this.#hasChildren = hasChildren
  }

  /**
   * Since the last look. Beside its main thread, of a process counts the one that ran most often: a worker's heartbeat thread. The
   * others compile and collect garbage, and may wait for long.
   * @returns {number} of the process that waited longest; 0 where nobody can tell
   */
  sinceLast() {
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

/**
 * @param {Thread} a
 * @param {Thread} b
 */
function byTurns(a, b) {
  return a.turns - b.turns
}

/**
 * @param {number[]} pids
 * @returns {[string, Thread][]}
 */
function threadsOf(pids) {
  return pids.flatMap((pid) =>
    list(`/proc/${pid}/task`).flatMap((id) => {
      const [, waitedNs, turns] = read(`/proc/${pid}/task/${id}/schedstat`).trim().split(' ').map(Number)
      if (waitedNs === undefined || turns === undefined) return []
      const thread = { pid, isMain: Number(id) === pid, waitedMs: waitedNs / NS_PER_MS, turns }
      return [/** @type {[string, Thread]} */ ([`${pid} ${id}`, thread])]
    }),
  )
}

/** @param {number} pid */
function childrenOf(pid) {
  return read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
}

/**
 * Of the server with this data directory, in whatever life it is.
 * @param {string} dataDir
 */
export function serverPid(dataDir) {
  const pid = Number.parseInt(read(join(dataDir, 'postmaster.pid')), 10)
  return Number.isNaN(pid) ? undefined : pid
}

/**
 * @param {{ workers: ProcessSlot[], reaper: ProcessSlot }} scene
 * @param {() => number | undefined} server
 */
export function processesOf({ workers, reaper }, server) {
  return new Map([
    ...[...workers, reaper].map(
      (slot) => /** @type {const} */ ([slot.name, new ProcessorWaits(() => slot.pid)]),
    ),
    ['run', new ProcessorWaits(() => process.pid)],
    ['database', new ProcessorWaits(server, true)],
  ])
}

/** @param {string} folder */
function list(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Nothing where the process has gone, or the system has no such file. */
function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
