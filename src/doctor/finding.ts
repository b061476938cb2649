/** `problem`: jobs stay stuck, or will. `warning`: it works, and something costs or threatens. */
export type Level = 'fine' | 'warning' | 'problem'

export interface Finding {
  /** The heading of its explanation in docs/guides/tables/scan-and-doctor.md. */
  check: string
  level: Level
  message: string
  /** The statement, command or setting that fixes it; null if there is nothing to fix. */
  fix: string | null
}

export const countJobs = (jobs: number): string => (jobs === 1 ? '1 job' : `${jobs} jobs`)

export const fine = (check: string, message: string): Finding => ({
  check,
  level: 'fine',
  message,
  fix: null,
})

export const warning = (check: string, message: string, fix: string | null): Finding => ({
  check,
  level: 'warning',
  message,
  fix,
})

export const problem = (check: string, message: string, fix: string | null): Finding => ({
  check,
  level: 'problem',
  message,
  fix,
})
