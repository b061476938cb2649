import type { JobProgress } from './job.ts'

/** Rounded down: 100 only at the end. 0.29 * 100 is a little less than 29. */
export function percentOf({ value }: Pick<JobProgress, 'value'>): number {
  return Math.floor((value * 1_000) / 10)
}

/** `40 %: page 12 of 30` */
export function showProgress({ value, text }: JobProgress): string {
  const percent = `${percentOf({ value })} %`
  return text === null ? percent : `${percent}: ${text.replaceAll(/\s+/g, ' ')}`
}
