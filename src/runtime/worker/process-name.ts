import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Shows an operator where it runs; the last part distinguishes two workers of one process. */
export function processName(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
}
