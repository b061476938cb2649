import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Tells an operator where it runs; the last part tells two of one process apart. */
export function processName(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
}
