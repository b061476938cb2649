// Waits for the end of jobs. `readEnds` is the truth; the others only save time, by notifications.
import type { JobErrorRecord, JobProgress, JsonValue } from '../../job/job.ts'

export interface WaitStore {
  /** How these jobs ended, in any order. Jobs that wait or run are left out. */
  readEnds(jobIds: string[]): Promise<JobEnd[]>
  /** Progress that these jobs have reported, in any order. Jobs without any are left out. */
  readProgress(jobIds: string[]): Promise<ReportedProgress[]>
  /** The end of these jobs notifies `channel`, for `forMs` (at most an hour). Absent for stores without `notify`. */
  beginWaits?(jobIds: string[], channel: number, forMs: number): Promise<void>
  endWaits?(jobIds: string[], channel: number): Promise<void>
}

export interface JobEnd {
  jobId: string
  /** `gone`: no job has this id, or its row was deleted. */
  status: 'succeeded' | 'dead' | 'cancelled' | 'gone'
  /** Null if it is gone. */
  type: string | null
  result: JsonValue
  /** Set if the job is dead or cancelled. */
  error: Pick<JobErrorRecord, 'code' | 'reason' | 'category'> | null
}

export interface ReportedProgress extends JobProgress {
  jobId: string
}
