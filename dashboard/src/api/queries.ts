// Queries, one hook per resource. Answers include the database time. Lists are limited to the table in the address.
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type {
  AttemptList,
  AuditList,
  ConfigAnswer,
  DeadLetterList,
  Delivery,
  DoctorAnswer,
  EventList,
  JobAnswer,
  JobList,
  Me,
  Operation,
  OperationJobList,
  OperationList,
  RateLimitList,
  ReclaimList,
  SloAnswer,
  StaleList,
  StaleValidation,
  SweepList,
  TokenList,
  TrendList,
  Webhook,
  WhyAnswer,
  WorkerList,
} from '../../../src/http/contract/index.ts'
import { useTable } from '../shell/address.tsx'
import { queryOf, RequestProblem, request } from './client.ts'
import { noteDatabaseTime } from './database-clock.ts'

type Answered<Content> = Content & { db_now: string }
type Values = Record<string, string | number | null | undefined>

async function read<Answer extends { db_now: string }>(path: string, values: Values = {}): Promise<Answer> {
  const answer = await request<Answer>('GET', path + queryOf(values))
  noteDatabaseTime(answer.db_now)
  return answer
}

/** No polling after a refusal. */
const again =
  <Answer>(refetchMs: Refetch<Answer> | undefined) =>
  ({
    state: { error, data },
  }: {
    state: { error: Error | null; data?: Answer | undefined }
  }): number | false => {
    if (refetchMs === undefined || (error instanceof RequestProblem && error.isFinal)) return false
    if (typeof refetchMs === 'number') return refetchMs
    return data === undefined ? UNANSWERED_MS : refetchMs(data)
  }

/** A time, or one that depends on the last answer. */
type Refetch<Answer> = number | ((answer: Answer) => number)
const UNANSWERED_MS = 5_000

interface Reading<Refetching = number> {
  values?: Values
  refetchMs?: Refetching
  isEnabled?: boolean
}

function useResource<Answer extends { db_now: string }>(
  path: string,
  { values = {}, refetchMs, isEnabled = true }: Reading<Refetch<Answer>> = {},
): UseQueryResult<Answer> {
  return useQuery({
    queryKey: [path, values],
    queryFn: () => read<Answer>(path, values),
    enabled: isEnabled,
    refetchInterval: again(refetchMs),
    placeholderData: keepPreviousData,
  })
}

function useTableResource<Answer extends { db_now: string }>(
  path: string,
  { values = {}, ...reading }: Reading<Refetch<Answer>> = {},
): UseQueryResult<Answer> {
  const [table] = useTable()
  return useResource<Answer>(path, { ...reading, values: { ...values, table } })
}

interface Paged {
  db_now: string
  next_cursor: string | null
}

/** Lists with more pages than these are read once. */
export const MAX_LIVE_PAGES = 4

function usePages<Answer extends Paged>(
  path: string,
  { values = {}, refetchMs, isEnabled = true }: Reading = {},
) {
  return useInfiniteQuery({
    queryKey: [path, values],
    queryFn: ({ pageParam }) => read<Answer>(path, { ...values, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    // A refetch reads all pages again: after a deep search it would walk the whole table.
    refetchInterval: (query) =>
      (query.state.data?.pages.length ?? 0) > MAX_LIVE_PAGES ? false : again(refetchMs)(query),
    refetchOnWindowFocus: (query) =>
      refetchMs !== undefined && (query.state.data?.pages.length ?? 0) <= MAX_LIVE_PAGES,
  })
}

export const useMe = () => useResource<Me>('v1/me')
export const useConfig = () => useResource<ConfigAnswer>('v1/config')
export const useDoctor = () => useResource<DoctorAnswer>('v1/doctor')
export const useTokens = (isEnabled: boolean) => useResource<TokenList>('v1/tokens', { isEnabled })
export const useRateLimits = () =>
  useResource<RateLimitList>('v1/rate-limits', { values: { limit: 200 }, refetchMs: 2_000 })

export const useDeadLetters = () =>
  useTableResource<DeadLetterList>('v1/dead-letters', { values: { limit: 1_000 }, refetchMs: 5_000 })
export const useWorkers = () => useTableResource<WorkerList>('v1/workers', { refetchMs: 3_000 })
export const useTrends = (
  { hours, span }: { hours: number; span: string },
  refetchMs: Refetch<TrendList> = 30_000,
) => useTableResource<TrendList>('v1/trends', { values: { hours, span, limit: 10_000 }, refetchMs })
export const useSlo = () => useTableResource<SloAnswer>('v1/slo', { refetchMs: 5_000 })
export const useStale = () =>
  useTableResource<StaleList>('v1/stale', { values: { limit: 50 }, refetchMs: 3_000 })
export const useStaleValidation = () =>
  useTableResource<StaleValidation>('v1/stale/validation', { refetchMs: 5_000 })
export const useSweeps = () =>
  useTableResource<SweepList>('v1/reaper/sweeps', { values: { limit: 60 }, refetchMs: 3_000 })
export const useWebhooks = () =>
  useTableResource<Answered<{ webhooks: Webhook[] }>>('v1/webhooks', { refetchMs: 5_000 })
export const useDeliveries = (webhookId: string) =>
  useTableResource<Answered<{ deliveries: Delivery[] }>>('v1/webhooks/deliveries', {
    values: { webhook_id: webhookId, limit: 20 },
    refetchMs: 3_000,
  })

/** The newest of all tables; polled rarely while none is running. */
export const useRecentOperations = (isEnabled: boolean) =>
  useQuery({
    queryKey: ['v1/operations'],
    queryFn: () => read<OperationList>('v1/operations', { limit: 20 }),
    enabled: isEnabled,
    refetchInterval: ({ state }) =>
      state.data?.operations.some(({ state: one }) => one === 'running') === true ? 1_500 : 15_000,
  })
export const useOperation = (id: string) =>
  useResource<Answered<{ operation: Operation }>>(`v1/operations/${encodeURIComponent(id)}`, {
    refetchMs: 1_000,
  })
export const useOperationJobs = (id: string, refetchMs?: number) =>
  usePages<OperationJobList>(`v1/operations/${encodeURIComponent(id)}/jobs`, {
    values: { limit: 100 },
    ...(refetchMs === undefined ? {} : { refetchMs }),
  })

export interface ReclaimFilter {
  isEnabled?: boolean
  worker?: string | null
  stage?: string | null
}

export function useReclaims({ worker, stage, isEnabled = true }: ReclaimFilter = {}, limit = 200) {
  const [table] = useTable()
  return usePages<ReclaimList>('v1/reclaims', {
    values: { table, worker_id: worker, stage, limit },
    refetchMs: 5_000,
    isEnabled,
  })
}

export function useAudit(actor: string | null) {
  const [table] = useTable()
  return usePages<AuditList>('v1/audit', { values: { table, actor, limit: 50 } })
}

const useJobResource = <Answer extends { db_now: string }>(id: string, part = '', isEnabled = true) =>
  useTableResource<Answer>(`v1/jobs/${encodeURIComponent(id)}${part}`, { refetchMs: 2_000, isEnabled })
export const useJob = (id: string) => useJobResource<JobAnswer>(id)
export const useWhy = (id: string, isEnabled = true) => useJobResource<WhyAnswer>(id, '/why', isEnabled)
export const useEvents = (id: string) => useJobResource<EventList>(id, '/events')
export const useAttempts = (id: string) => useJobResource<AttemptList>(id, '/attempts')

export interface JobQuery {
  q: string
  limit: number
  withPayload?: boolean
}

const jobValues = ({ q, limit, withPayload = false }: JobQuery, table: string | null): Values => {
  return { q, limit, table, ...(withPayload ? { with_payload: 'true' } : {}) }
}

export function useJobs(query: JobQuery, isFrozen: boolean) {
  const [table] = useTable()
  return usePages<JobList>('v1/jobs', {
    values: jobValues(query, table),
    ...(isFrozen ? {} : { refetchMs: 3_000 }),
  })
}

export const useNewestWaiting = ({ queue, table }: { queue: string; table: string }, isEnabled: boolean) =>
  useResource<JobList>('v1/jobs', {
    values: { q: `queue:${JSON.stringify(queue)} status:waiting`, limit: 1, table },
    refetchMs: 10_000,
    isEnabled,
  })

/** One page, for the export. */
export const readJobs = (query: JobQuery, table: string | null, cursor: string | null) =>
  read<JobList>('v1/jobs', { ...jobValues(query, table), cursor })
