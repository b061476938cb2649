import { jsonText } from '../../../job/json-text.ts'
import type { Trend, TrendStore } from '../../ports/trend-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import { fromRecord } from '../rows/values.ts'

export function bindTrendVerbs(call: CallQuery): TrendStore {
  return {
    async recordTrends(counts, agoMs) {
      const [row] = await call('record_trends', [jsonText('counts', counts), agoMs])
      return Number(row?.['next_ms'])
    },

    async countTrends() {
      await call('count_trends', [])
    },

    async listTrends({ sinceMs, spanMin, queue, type, limit }) {
      const params = [sinceMs, spanMin, queue ?? null, type ?? null, limit ?? 1000]
      return (await call('list_trends', params)).map((row) => fromRecord<Trend>(row, ['at']))
    },

    async sumTrends({ sinceMs, spanMin, queue, type }) {
      const rows = await call('sum_trends', [sinceMs, spanMin, queue ?? null, type ?? null])
      return rows.map((row) => fromRecord<Trend>(row, ['at']))
    },
  }
}
