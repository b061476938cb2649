import { shippedProfileNames } from '../../profile/shipped.ts'
import { milliseconds } from './value-kind.ts'
import type { Variable } from './variable.ts'

/** Largest string in a jsonb. */
const JSONB_MAX_BYTES = 2 ** 28 - 1

export const workerVariables: readonly Variable[] = [
  {
    name: 'WORKER_CONCURRENCY',
    meaning: 'Number of jobs a worker runs concurrently.',
    kind: { type: 'whole', unit: 'jobs', min: 1, max: 1000 },
    profiles: shippedProfileNames,
    default: { native: '10', clip: '1', embedding: '10', executor: '1', converter: '1' },
    sets: ['workerConcurrency'],
    requirement: 'WORK-3',
    flag: 'concurrency',
  },
  {
    name: 'UNSTUCK_APP_VERSION',
    meaning:
      'Version of your application, such as a tag or a commit. Workers report it; the dashboard shows a deploy.',
    kind: { type: 'text' },
    profiles: shippedProfileNames,
    default: null,
    sets: ['appVersion'],
    requirement: 'SEE-9',
    flag: 'appVersion',
  },
  {
    name: 'UNSTUCK_MAX_PAYLOAD_BYTES',
    meaning:
      'The largest payload that `enqueue` accepts, as JSON in UTF-8. Store large data in a file or a bucket.',
    kind: { type: 'whole', unit: 'bytes', min: 1, max: JSONB_MAX_BYTES },
    profiles: shippedProfileNames,
    default: '1048576',
    sets: ['maxPayloadBytes'],
    requirement: 'OPS-8',
  },
  {
    name: 'UNSTUCK_WEBHOOK_ALLOW_PRIVATE',
    meaning: 'With `1`, webhooks may use private addresses and plain HTTP.',
    kind: { type: 'choice', words: ['0', '1'] },
    profiles: shippedProfileNames,
    default: '0',
    sets: ['webhookAllowPrivate'],
    requirement: 'OPS-10',
  },
  {
    name: 'GATEWAY_URL',
    meaning: 'The service that handlers call, and the default address of the breaker’s health probe.',
    kind: { type: 'url', protocols: ['http:', 'https:'] },
    profiles: shippedProfileNames,
    default: null,
    sets: ['gateway.url'],
    requirement: 'BREAK-3',
    isSecret: true,
  },
  {
    name: 'UNSTUCK_GATEWAY_PROBE_URL',
    meaning:
      'Address of the breaker’s health probe. Choose one that fails when the calls of jobs would. Default: `GATEWAY_URL`.',
    kind: { type: 'url', protocols: ['http:', 'https:'] },
    profiles: shippedProfileNames,
    default: null,
    sets: ['gateway.probeUrl'],
    requirement: 'BREAK-3',
    isSecret: true,
  },
  {
    name: 'GATEWAY_TIMEOUT_MS',
    meaning: 'Timeout of one call to the service.',
    kind: milliseconds(1),
    profiles: shippedProfileNames,
    default: '60000',
    sets: ['gateway.timeoutMs'],
    requirement: 'WORK-3',
  },
  {
    name: 'UPLOADS_DIR',
    meaning: 'Directory of the source files of jobs.',
    kind: { type: 'text' },
    profiles: ['converter'],
    default: null,
    sets: ['gateway.uploadsDir'],
    requirement: 'OPS-1',
  },
  {
    name: 'RESULTS_DIR',
    meaning: 'Directory of the files that jobs write.',
    kind: { type: 'text' },
    profiles: ['converter'],
    default: null,
    sets: ['gateway.resultsDir'],
    requirement: 'WORK-3',
  },
  {
    name: 'CIRCUIT_WINDOW',
    meaning: 'Number of last calls that the breaker evaluates.',
    kind: { type: 'whole', unit: 'calls', min: 1, max: 10_000 },
    profiles: ['native', 'converter'],
    default: '20',
    sets: ['circuit.window'],
    requirement: 'BREAK-1',
  },
  {
    name: 'UNSTUCK_CIRCUIT_WINDOW_MS',
    meaning: 'Maximum age of the calls that the breaker evaluates. Default: any age.',
    kind: milliseconds(1),
    profiles: ['native', 'converter'],
    default: null,
    sets: ['circuit.windowMs'],
    requirement: 'BREAK-1',
  },
  {
    name: 'CIRCUIT_FAIL_THRESHOLD',
    meaning:
      'The share of failed calls at which the breaker opens. `1` alone is refused: write `1%` or `100%`.',
    kind: { type: 'share' },
    profiles: ['native', 'converter'],
    default: '50%',
    sets: ['circuit.failThreshold'],
    requirement: 'BREAK-1',
  },
  {
    name: 'CIRCUIT_COOLDOWN_MS',
    meaning: 'How long an open breaker waits before it tries the service again.',
    kind: milliseconds(0),
    profiles: ['native', 'converter'],
    default: '30000',
    sets: ['circuit.cooldownMs'],
    requirement: 'BREAK-3',
  },
]
