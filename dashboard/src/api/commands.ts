// What pages change. Every command goes to the server's one command layer, which checks permission and state.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  ActAnswer,
  Operation,
  RedriveRequest,
  RetryRequest,
  SweepAnswer,
} from '../../../src/http/contract.ts'
import { request } from './client.ts'

interface Reasoned {
  reason?: string | undefined
}

const bodyOf = ({ reason, ...rest }: Reasoned & Record<string, unknown>) =>
  reason === undefined || reason.trim() === '' ? rest : { ...rest, reason: reason.trim() }

const path = (kind: string, name: string, verb?: string) =>
  `v1/${kind}/${encodeURIComponent(name)}${verb === undefined ? '' : `/${verb}`}`

export const retryJob = (id: string, options: RetryRequest = {}) =>
  request<ActAnswer>('POST', path('jobs', id, 'retry'), bodyOf({ ...options }))
export const cancelJob = (id: string, options: Reasoned = {}) =>
  request<ActAnswer>('POST', path('jobs', id, 'cancel'), bodyOf({ ...options }))
export const discardJob = (id: string, options: Reasoned = {}) =>
  request<ActAnswer>('DELETE', path('jobs', id), bodyOf({ ...options }))
export const redrive = (causeId: string, options: RedriveRequest) =>
  request<{ operation: Operation }>('POST', path('dead-letters', causeId, 'redrive'), bodyOf({ ...options }))
export const abortOperation = (id: string) => request('POST', path('operations', id, 'abort'), {})
export const holdBreaker = (name: string, options: Reasoned & { duration_ms?: number }) =>
  request('POST', path('breakers', name, 'hold'), bodyOf({ ...options }))
export const resumeBreaker = (name: string, options: Reasoned = {}) =>
  request('POST', path('breakers', name, 'resume'), bodyOf({ ...options }))
export const pauseQueue = (name: string, options: Reasoned & { duration_ms?: number }) =>
  request('POST', path('queues', name, 'pause'), bodyOf({ ...options }))
export const resumeQueue = (name: string, options: Reasoned = {}) =>
  request('POST', path('queues', name, 'resume'), bodyOf({ ...options }))
export const drainWorker = (id: string, options: Reasoned = {}) =>
  request('POST', path('workers', id, 'drain'), bodyOf({ ...options }))
export const previewSweep = () => request<SweepAnswer>('POST', 'v1/reaper/run', { dry_run: true })
export const signIn = (token: string) => request('POST', 'v1/session', { token })
export const signOut = () => request('DELETE', 'v1/session')

/** Runs a command and reads everything again afterwards, whether it was refused or not: the page may be old. */
export function useCommand<Input, Answer>(run: (input: Input) => Promise<Answer>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: run, onSettled: () => client.invalidateQueries() })
}
