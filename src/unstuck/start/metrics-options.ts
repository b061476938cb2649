import type { MetricsOptions } from '../../observe/metrics/metric-readings.ts'
import type { ApplicationParts } from './start-worker.ts'

export function metricsOptionsOf({ open, config, events, table }: ApplicationParts): MetricsOptions {
  const { store } = open
  const { policy } = config
  return {
    events,
    table: table.table,
    readHealth: () => store.readHealth({ policy }),
    readBreakers: () => store.listBreakers(),
    readSlo: () => store.readSlo({ policy }),
  }
}
