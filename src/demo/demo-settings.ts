// Settings of the demo, short enough to watch, shown beside the defaults.
import { nativePolicy, type Policy, presetPolicies } from '../policy/policy.ts'
import type { BreakerSettings } from '../store/job-store.ts'

export const demoPolicy: Policy = {
  ...nativePolicy,
  defaultLeaseMs: 3_000,
  // The job that kill -9 hits has the default lease: its rescue is due to presence.
  stageLeasesMs: { render: nativePolicy.defaultLeaseMs },
  heartbeatMs: 1_000,
  sweepIntervalMs: 500,
  reapBackoffStepsMs: [0],
  failureBackoffStepsMs: [1_000],
  failureBackoffJitterMs: 0,
  events: 'all',
}

/** Allowance for the sweep itself on a machine with nine processes. */
const SLACK_MS = 500

/** Past its lease for longer than that, a job counts as stuck. */
export const lateMs = demoPolicy.sweepIntervalMs + SLACK_MS

/** From the last heartbeat to the next one, to the first look without the lock, the grace, and one look that came late. */
const presenceMs = demoPolicy.heartbeatMs + 1_000 + 2_000 + 1_000

/** From the last heartbeat of a worker to the rescue of its job, by its lease or by presence. */
export const promisedMs = Math.max(demoPolicy.defaultLeaseMs + lateMs, presenceMs + SLACK_MS)

/** Two failed calls of the last four open it; only health probes close it, so no job is spent on probing. */
export const breakerSettings: Partial<BreakerSettings> = {
  mode: 'hold',
  windowCalls: 4,
  minCalls: 2,
  failThreshold: 0.5,
  cooldownMs: 1_000,
  closeAfter: 2,
  probeIntervalMs: 300,
}

/** A supervisor restarts dead workers, on both sides for a fair comparison. */
export const restartMs = 1_500

/** How long a handler blocks its event loop; longer than a lease. */
export const blockMs = demoPolicy.defaultLeaseMs + 1_000

/** In storyboard order. Windows has no SIGSTOP. */
export const actNames = [
  'kill',
  ...(process.platform === 'win32' ? [] : ['freeze']),
  'block',
  'gateway',
  'poison',
  'down',
]

export type Kind = 'plain' | 'convert' | 'render' | 'block' | 'poison'

/** Injected by tests, to prove that the receipt notices. */
export const faults = ['finish-twice', 'lose-effect'] as const
export type Fault = (typeof faults)[number]

/** The job that a fault affects. */
export const FAULTY_JOB = 2

/** Settings of a demo process, as JSON in `DEMO_PROCESS`: not a flag, since it contains a password. */
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

/** Lease of a job of this type. */
export const leaseMsOf = (type: string) => demoPolicy.stageLeasesMs[type] ?? demoPolicy.defaultLeaseMs

/** Slot and process id: distinguishes two processes of one slot. */
export const workerIdOf = (name: string, pid: number) => `${name}:${pid}`

/** The id of a worker in job rows ends in a part of its own. */
export const isWorker = (workerId: string | null, { name, pid }: { name: string; pid: number }) =>
  workerId?.startsWith(`${workerIdOf(name, pid)}:`) === true

const seconds = (ms: number) => `${ms / 1000} s`
const times = ({ defaultLeaseMs, heartbeatMs, sweepIntervalMs }: Policy) =>
  `lease ${seconds(defaultLeaseMs)} · beat ${seconds(heartbeatMs)} · sweep ${seconds(sweepIntervalMs)}`
const backoff = ({ reapBackoffStepsMs }: Policy) => `backoff ${seconds(reapBackoffStepsMs[0] ?? 0)}`

/** The demo's settings beside the defaults. */
export const demoSettings = {
  inForce: times(demoPolicy),
  besides: [
    `default: ${times(nativePolicy)} · ${backoff(nativePolicy)} after a crash`,
    `brisk:   ${times({ ...nativePolicy, ...presetPolicies.brisk })} (UNSTUCK_PRESET=brisk)`,
    'worst case = lease + sweep + backoff + poll of a free worker (2 s)',
  ],
}

export const settingLines = [
  `demo:    ${demoSettings.inForce} · ${backoff(demoPolicy)}`,
  ...demoSettings.besides,
]
