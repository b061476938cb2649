// Metrics for Prometheus. prom-client is loaded by the first call, not by importing this package.
import type * as prom from 'prom-client'
import {
  type Instrument,
  type InstrumentName,
  instrumentEntries,
  type MetricSink,
  type Sample,
} from './instruments.ts'
import { MetricReadings, type MetricsOptions } from './metric-readings.ts'
import { recordEvents } from './record-events.ts'

export interface Metrics {
  /** A separate registry, which may be merged with that of the application. */
  registry: prom.Registry
  /** Body of a metrics endpoint, of type `contentType`. */
  text(): Promise<string>
  contentType: string
  /** Stops listening. Counts are kept. */
  stop(): void
}

interface Settings {
  name: string
  help: string
  labelNames: string[]
  registers: prom.Registry[]
}

export async function createMetrics(options: MetricsOptions): Promise<Metrics> {
  const client = await import('prom-client')
  const registry = new client.Registry()
  const counters = new Map<InstrumentName, prom.Counter>()
  const histograms = new Map<InstrumentName, prom.Histogram>()
  const sink: MetricSink = {
    add: (name, labels, count) => counters.get(name)?.inc(labels, count),
    observe: (name, labels, value) => histograms.get(name)?.observe(labels, value),
  }
  const readings = new MetricReadings(options, (read) => sink.add('readsFailed', { read }, 1))

  for (const [name, instrument] of instrumentEntries) {
    const settings = settingsOf(instrument, registry)
    const { kind, source, buckets = [] } = instrument
    if (source === 'read') {
      createReadMetric(client, kind, settings, async () =>
        (await readings.read()).filter((sample) => sample.name === name),
      )
    } else if (kind === 'counter') counters.set(name, new client.Counter(settings))
    else histograms.set(name, new client.Histogram({ ...settings, buckets: [...buckets] }))
  }

  const stopRecording = recordEvents(options.events, options.table, sink)
  return {
    registry,
    text: () => registry.metrics(),
    contentType: registry.contentType,
    stop() {
      stopRecording()
      readings.stop()
    },
  }
}

function settingsOf({ prometheus, help, labels }: Instrument, registry: prom.Registry): Settings {
  return { name: prometheus, help, labelNames: [...labels], registers: [registry] }
}

/** Its values are replaced at every scrape, also those of a counter, which are totals already. */
function createReadMetric(
  client: typeof prom,
  kind: Instrument['kind'],
  settings: Settings,
  read: () => Promise<Sample[]>,
): void {
  const collect = async () => {
    const samples = await read()
    metric.reset()
    for (const { labels, value } of samples) metric.inc(labels, value)
  }
  const metric =
    kind === 'counter'
      ? new client.Counter({ ...settings, collect })
      : new client.Gauge({ ...settings, collect })
}
