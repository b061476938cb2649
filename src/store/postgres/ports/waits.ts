import type { JsonValue } from '../../../job/job.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { JobEnd, WaitStore } from '../../job-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { toErrorRecord, toStatus } from '../rows/job-rows.ts'

export function bindWaitVerbs(call: CallQuery, table: TableProfile): WaitStore {
  return {
    // By their place: an id may be written in more than one way.
    readEnds: async (jobIds) =>
      (await call('read_ends', [jobIds])).map((row) =>
        toJobEnd(String(jobIds[Number(row['n']) - 1]), row, table),
      ),
    readProgress: async (jobIds) =>
      (await call('read_progress', [jobIds])).map((row) => ({
        jobId: String(jobIds[Number(row['n']) - 1]),
        value: Number(row['value']),
        text: (row['text'] ?? null) as string | null,
      })),
    async beginWaits(jobIds, channel, forMs) {
      await call('begin_waits', [jobIds, channel, forMs])
    },
    async endWaits(jobIds, channel) {
      await call('end_waits', [jobIds, channel])
    },
  }
}

function toJobEnd(jobId: string, row: Row, table: TableProfile): JobEnd {
  const error = toErrorRecord(row)
  if (row['status'] === null) return { jobId, status: 'gone', type: null, result: null, error: null }
  const status = toStatus(row['status'] as string, error, table) as JobEnd['status']
  const type = String(row['type'])
  if (status === 'succeeded')
    return { jobId, status, type, result: (row['result'] ?? null) as JsonValue, error: null }
  const { code = null, reason = null, category = null } = error ?? {}
  return { jobId, status, type, result: null, error: { code, reason, category } }
}
