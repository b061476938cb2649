// CPU time of processes, from /proc.
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second, on every Linux platform of Node. */
const TICK_MS = 10

/**
 * CPU time of a server: of this process, of its children, and of those that ended. Exact except for the last, which the kernel
 * counts in ticks.
 */
export function serverCpuMs(pid: number): number {
  const ended = readStat(pid)?.endedTicks ?? 0
  return threadsMs(pid) + ended * TICK_MS + childrenOf(pid).reduce((sum, child) => sum + threadsMs(child), 0)
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => readStat(child)?.parent === pid)
}

export function parentOf(pid: number): number {
  const stat = readStat(pid)
  if (stat === null) throw new Error(`there is no process ${pid}`)
  return stat.parent
}

/** 0 if it has just ended. */
function threadsMs(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, thread) =>
        sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
      0,
    )
  } catch {
    return 0
  }
}

/** Null if the process is gone. */
function readStat(pid: number): { parent: number; endedTicks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), endedTicks: Number(fields[13]) + Number(fields[14]) }
  } catch {
    return null
  }
}
