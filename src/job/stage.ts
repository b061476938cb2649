import type { Job } from './job.ts'

/** The job's own stage, else the table's default, else its type. */
export function stageOf(job: Pick<Job, 'stage' | 'type'>, defaultStage: string | null): string {
  return job.stage ?? defaultStage ?? job.type
}
