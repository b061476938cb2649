// Changes made by pages. The server checks permission and state.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  CauseState,
  ChangeAnswer,
  NewWebhookAnswer,
  Operation,
  OperationRequest,
  RetryRequest,
  SweepAnswer,
} from '../../../src/http/contract/index.ts'
import { queryOf, request } from './client.ts'

interface Reasoned {
  reason?: string | undefined
}

/** Name of a job or queue, and its table. */
export interface Target {
  id: string
  table: string | null
}

export interface HoldOptions extends Reasoned {
  duration_ms?: number | undefined
}

const bodyOf = ({ reason, ...rest }: Reasoned & Record<string, unknown>) =>
  reason === undefined || reason.trim() === '' ? rest : { ...rest, reason: reason.trim() }

function path(kind: string, { id, table }: Target, verb?: string): string {
  return `v1/${kind}/${encodeURIComponent(id)}${verb === undefined ? '' : `/${verb}`}${queryOf({ table })}`
}

const everywhere = (id: string): Target => ({ id, table: null })

export const retryJob = (job: Target, options: RetryRequest = {}) =>
  request<ChangeAnswer>('POST', path('jobs', job, 'retry'), bodyOf({ ...options }))
export const cancelJob = (job: Target, options: Reasoned = {}) =>
  request<ChangeAnswer>('POST', path('jobs', job, 'cancel'), bodyOf({ ...options }))
export const discardJob = (job: Target, options: Reasoned = {}) =>
  request<ChangeAnswer>('DELETE', path('jobs', job), bodyOf({ ...options }))
export const beginOperation = (options: OperationRequest) =>
  request<{ operation: Operation; db_now: string }>('POST', 'v1/operations', bodyOf({ ...options }))
export const abortOperation = (id: string) => request('POST', path('operations', everywhere(id), 'abort'), {})
export const markCause = (cause: Target, options: Reasoned & { state: CauseState }) =>
  request('PATCH', path('dead-letters', cause), bodyOf({ ...options }))
export const holdBreaker = ({ id }: Target, options: HoldOptions) =>
  request('POST', path('breakers', everywhere(id), 'hold'), bodyOf({ ...options }))
export const resumeBreaker = ({ id }: Target, options: Reasoned = {}) =>
  request('POST', path('breakers', everywhere(id), 'resume'), bodyOf({ ...options }))
export const pauseQueue = (queue: Target, options: HoldOptions) =>
  request('POST', path('queues', queue, 'pause'), bodyOf({ ...options }))
export const resumeQueue = (queue: Target, options: Reasoned = {}) =>
  request('POST', path('queues', queue, 'resume'), bodyOf({ ...options }))
export const drainWorker = (worker: Target, options: Reasoned = {}) =>
  request('POST', path('workers', worker, 'drain'), bodyOf({ ...options }))
export const previewSweep = (table: string | null) =>
  request<SweepAnswer>('POST', 'v1/reaper/run', { dry_run: true, ...(table === null ? {} : { table }) })
export const runSweep = (table: string | null, reason: string) =>
  request<SweepAnswer>(
    'POST',
    'v1/reaper/run',
    bodyOf({ reason, dry_run: false, ...(table === null ? {} : { table }) }),
  )
export const createWebhook = (options: Reasoned & { url: string; events?: string[]; table?: string }) =>
  request<NewWebhookAnswer>('POST', 'v1/webhooks', bodyOf({ ...options }))
export const switchWebhook = (webhook: Target, options: Reasoned & { is_active: boolean }) =>
  request('PATCH', path('webhooks', webhook), bodyOf({ ...options }))
export const removeWebhook = (webhook: Target) => request('DELETE', path('webhooks', webhook))
export const redeliver = (delivery: Target) =>
  request('POST', path('webhooks/deliveries', delivery, 'redeliver'))
export const signIn = (token: string) => request('POST', 'v1/session', { token })
export const signOut = () => request('DELETE', 'v1/session')

/** Runs a command, then refetches everything, also after a refusal: the page may be out of date. */
export function useCommand<Input, Answer>(run: (input: Input) => Promise<Answer>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: run, onSettled: () => client.invalidateQueries() })
}
