import { hostname } from 'node:os'
import { timing } from '../timing/timing.ts'

/** Identifies this process among those that hold presence locks. */
export const processKey = 1 + Math.floor(timing.random() * (2 ** 21 - 1))

/** The end distinguishes processes with the same name: the end of one must not concern the other's jobs (LEASE-10). */
export function workerName(given: string | undefined): string {
  return given === undefined ? processName() : `${given}:${timing.randomUUID().slice(0, 8)}`
}

/** Shows an operator where it runs; the last part distinguishes two workers of one process. */
export function processName(): string {
  return `${hostname()}:${process.pid}:${timing.randomUUID().slice(0, 8)}`
}
