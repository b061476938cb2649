// What is in force in the demo, and what is not: the settings are short enough to watch, and said to be.
import { briskPolicy, nativePolicy, type Policy } from '../policy/policy.ts'
import type { BreakerSettings } from '../store/job-store.ts'

export const demoPolicy: Policy = {
  ...nativePolicy,
  defaultLeaseMs: 3_000,
  heartbeatMs: 1_000,
  sweepIntervalMs: 500,
  reapBackoffStepsMs: [0],
  failureBackoffStepsMs: [1_000],
  failureBackoffJitterMs: 0,
  events: 'all',
}

/** What a sweep itself, and a machine that runs nine processes, may take. */
const SLACK_MS = 500

/** From the last sign of life of a worker to the moment its job is taken back. */
export const promisedMs = demoPolicy.defaultLeaseMs + demoPolicy.sweepIntervalMs + SLACK_MS

/** Two failed calls of the last four open it; health probes alone close it, so no job is spent on trying. */
export const breakerSettings: Partial<BreakerSettings> = {
  mode: 'hold',
  windowCalls: 4,
  minCalls: 2,
  failThreshold: 0.5,
  cooldownMs: 1_000,
  closeAfter: 2,
  probeIntervalMs: 300,
}

/** Under a supervisor a worker that died comes back: on both sides, or the comparison would not be fair. */
export const restartMs = 1_500

/** How long a handler blocks its event loop: longer than a lease. */
export const blockMs = demoPolicy.defaultLeaseMs + 1_000

/** In the order of the storyboard. SIGSTOP does not exist on Windows. */
export const actNames = [
  'kill',
  ...(process.platform === 'win32' ? [] : ['freeze']),
  'block',
  'gateway',
  'poison',
  'down',
]

export type Kind = 'plain' | 'convert' | 'block' | 'poison'

/** Switched on by tests, to prove that the receipt notices. */
export const faults = ['finish-twice', 'lose-effect'] as const
export type Fault = (typeof faults)[number]

/** The job that a fault concerns. */
export const FAULTY_JOB = 2

/** What a process of the demo is told at its start, as JSON in `DEMO_PROCESS`: no flag, for it holds a password. */
export interface ProcessSettings {
  name: string
  databaseUrl: string
  schema: string
  gatewayUrl: string
  ledgerFile: string
  fault: Fault | null
}

export function readProcessSettings(): ProcessSettings {
  return JSON.parse(process.env['DEMO_PROCESS'] ?? '{}') as ProcessSettings
}

export interface JobPayload {
  n: number
  durationMs: number
}

export type FromProcess =
  | { kind: 'ready' }
  /** A worker that had lost its lease tried to write its result all the same. */
  | { kind: 'late-write'; jobId: string; fence: number; outcome: string }

/** Named after the worker's place and its process, so that two lives of one place are told apart. */
export const workerIdOf = (name: string, pid: number) => `${name}:${pid}`

const seconds = (ms: number) => `${ms / 1000} s`
const times = ({ defaultLeaseMs, heartbeatMs, sweepIntervalMs }: Policy) =>
  `lease ${seconds(defaultLeaseMs)} · beat ${seconds(heartbeatMs)} · sweep ${seconds(sweepIntervalMs)}`
const backoff = ({ reapBackoffStepsMs }: Policy) => `backoff ${seconds(reapBackoffStepsMs[0] ?? 0)}`

/** What is in force here, and beside it what one gets without asking. */
export const demoSettings = {
  inForce: times(demoPolicy),
  besides: [
    `default: ${times(nativePolicy)} · ${backoff(nativePolicy)} after a crash`,
    `brisk:   ${times({ ...nativePolicy, ...briskPolicy })} (UNSTUCK_PRESET=brisk)`,
    'worst case = lease + sweep + backoff + poll of a free worker (2 s)',
  ],
}

export const settingLines = [
  `demo:    ${demoSettings.inForce} · ${backoff(demoPolicy)}`,
  ...demoSettings.besides,
]
