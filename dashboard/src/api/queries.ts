// What pages read, one hook per resource. Answers carry the database's clock.
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type {
  AttemptList,
  ConfigAnswer,
  DeadLetterList,
  DoctorAnswer,
  EventList,
  JobAnswer,
  JobList,
  Me,
  OperationList,
  SloAnswer,
  TokenList,
  WhyAnswer,
  WorkerList,
} from '../../../src/http/contract.ts'
import { queryOf, request } from './client.ts'
import { noteDatabaseTime } from './database-clock.ts'

async function read<Answer extends { db_now: string }>(path: string): Promise<Answer> {
  const answer = await request<Answer>('GET', path)
  noteDatabaseTime(answer.db_now)
  return answer
}

interface Timing {
  refetchMs?: number
  isEnabled?: boolean
}

function useResource<Answer extends { db_now: string }>(
  key: readonly unknown[],
  path: string,
  { refetchMs, isEnabled = true }: Timing = {},
): UseQueryResult<Answer> {
  return useQuery({
    queryKey: key,
    queryFn: () => read<Answer>(path),
    enabled: isEnabled,
    refetchInterval: refetchMs ?? false,
    placeholderData: keepPreviousData,
  })
}

const jobPath = (id: string) => `v1/jobs/${encodeURIComponent(id)}`

export const useMe = () => useResource<Me>(['me'], 'v1/me')
export const useConfig = () => useResource<ConfigAnswer>(['config'], 'v1/config')
export const useDoctor = () => useResource<DoctorAnswer>(['doctor'], 'v1/doctor')
export const useDeadLetters = () =>
  useResource<DeadLetterList>(['dead-letters'], 'v1/dead-letters', { refetchMs: 5_000 })
export const useWorkers = () => useResource<WorkerList>(['workers'], 'v1/workers', { refetchMs: 3_000 })
export const useSlo = () => useResource<SloAnswer>(['slo'], 'v1/slo', { refetchMs: 5_000 })
export const useTokens = (isEnabled: boolean) =>
  useResource<TokenList>(['tokens'], 'v1/tokens', { isEnabled })
export const useOperations = (isEnabled: boolean) =>
  useResource<OperationList>(['operations'], 'v1/operations', { refetchMs: 1_500, isEnabled })
export const useJob = (id: string) => useResource<JobAnswer>(['job', id], jobPath(id), { refetchMs: 2_000 })
export const useWhy = (id: string) =>
  useResource<WhyAnswer>(['job', id, 'why'], `${jobPath(id)}/why`, { refetchMs: 2_000 })
export const useEvents = (id: string) =>
  useResource<EventList>(['job', id, 'events'], `${jobPath(id)}/events`, { refetchMs: 2_000 })
export const useAttempts = (id: string) =>
  useResource<AttemptList>(['job', id, 'attempts'], `${jobPath(id)}/attempts`, { refetchMs: 2_000 })

export function useJobs(q: string, limit: number, isFrozen: boolean) {
  return useInfiniteQuery({
    queryKey: ['jobs', q, limit],
    queryFn: ({ pageParam }) => read<JobList>(`v1/jobs${queryOf({ q, limit, cursor: pageParam })}`),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: isFrozen ? false : 3_000,
  })
}
