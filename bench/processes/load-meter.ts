// CPU use by others: that of all CPUs minus that of this process and its descendants.
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second, on every Linux platform of Node. */
const TICK_MS = 10

interface Reading {
  atMs: number
  allMs: number
  oursMs: number
}

/** Starts measuring. The returned function resolves to cores, or null without /proc. */
export function meterOthers(): () => number | null {
  const start = read()
  return () => {
    const end = read()
    if (start === null || end === null) return null
    const othersMs = end.allMs - start.allMs - (end.oursMs - start.oursMs)
    return Math.max(0, othersMs / (end.atMs - start.atMs))
  }
}

function read(): Reading | null {
  try {
    return { atMs: performance.now(), allMs: readAll(), oursMs: readOurs() }
  } catch {
    return null
  }
}

function readAll(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .map(Number)
  return (user + nice + system + irq + softIrq) * TICK_MS
}

/** An exited child is counted by the parent that waited for it. */
function readOurs(): number {
  const parents = new Map<number, number>()
  const ticks = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(name)
    if (stat === null) continue
    parents.set(Number(name), stat.parent)
    ticks.set(Number(name), stat.ticks)
  }
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid)
    return pid === process.pid || (parent !== undefined && isOurs(parent))
  }
  let sum = 0
  for (const [pid, spent] of ticks) if (isOurs(pid)) sum += spent
  return sum * TICK_MS
}

function readStat(pid: string): { parent: number; ticks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
    return { parent: Number(fields[1]), ticks }
  } catch {
    return null
  }
}
