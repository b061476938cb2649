import type { HiddenJobs } from '../store/job-store.ts'

/** One sentence; the remedy is in `fix`. */
export function describeHidden({ role, table, isAll }: HiddenJobs): string {
  return isAll
    ? `row security hides every job of ${table} from role ${role}`
    : `row security may hide jobs of ${table} from role ${role}`
}
