import { randomInt, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Identifies this process among those that hold presence locks. */
export const processKey = randomInt(1, 2 ** 21)

/** The end distinguishes processes with the same name: the end of one must not concern the other's jobs (LEASE-10). */
export function workerName(given: string | undefined): string {
  return given === undefined ? processName() : `${given}:${randomUUID().slice(0, 8)}`
}

/** Shows an operator where it runs; the last part distinguishes two workers of one process. */
export function processName(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
}
