import { useQuery } from '@tanstack/react-query'
import type { OperationAction } from '../../../src/http/contract/index.ts'
import { beginOperation } from '../api/commands.ts'

export interface Planned {
  action: OperationAction
  q: string
  table: string | null
}

export const requestOf = ({ action, q, table }: Planned) => {
  return { action, q, ...(table === null ? {} : { table }) }
}

/** A dry run: the number of jobs and the time it applies to. */
export function usePlan(planned: Planned, isEnabled = true) {
  return useQuery({
    queryKey: ['plan', planned],
    queryFn: () => beginOperation({ ...requestOf(planned), dry_run: true }),
    enabled: isEnabled,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
}
