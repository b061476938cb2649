// The metrics of ./metrics.ts through OpenTelemetry: the same table, other names.
import type { BatchObservableResult, Counter, Histogram, Meter, Observable } from '@opentelemetry/api'
import { loadOtel } from '../load-otel.ts'
import { type Instrument, type InstrumentName, instrumentEntries, type MetricSink } from './instruments.ts'
import { MetricReadings, type MetricsOptions } from './metric-readings.ts'
import { recordEvents } from './record-events.ts'

export interface OtelMetrics {
  stop(): void
}

/** Uses the meter provider registered at the time of the call. Null without one, or without @opentelemetry/api. */
export async function openOtelMetrics(options: MetricsOptions): Promise<OtelMetrics | null> {
  const otel = await loadOtel()
  if (otel === null) return null
  const meter = otel.metrics.getMeter('unstuck')
  if (meter === otel.createNoopMeter()) return null
  const counters = new Map<InstrumentName, Counter>()
  const histograms = new Map<InstrumentName, Histogram>()
  const observables = new Map<InstrumentName, Observable>()
  for (const [name, instrument] of instrumentEntries) {
    if (instrument.source === 'read') observables.set(name, createObservable(meter, instrument))
    else if (instrument.kind === 'counter') counters.set(name, createCounter(meter, instrument))
    else histograms.set(name, createHistogram(meter, instrument))
  }

  const sink: MetricSink = {
    add: (name, labels, count) => counters.get(name)?.add(count, labels),
    observe: (name, labels, value) => histograms.get(name)?.record(value, labels),
  }
  const readings = new MetricReadings(options, (read) => sink.add('readsFailed', { read }, 1))
  const observe = async (result: BatchObservableResult) => {
    for (const { name, labels, value } of await readings.read()) {
      const observable = observables.get(name)
      if (observable !== undefined) result.observe(observable, value, labels)
    }
  }
  meter.addBatchObservableCallback(observe, [...observables.values()])
  const stopRecording = recordEvents(options.events, options.table, sink)
  return {
    stop() {
      meter.removeBatchObservableCallback(observe, [...observables.values()])
      stopRecording()
      readings.stop()
    },
  }
}

const settingsOf = ({ help, unit }: Instrument) => ({ description: help, unit })

function createCounter(meter: Meter, instrument: Instrument): Counter {
  return meter.createCounter(instrument.otel, settingsOf(instrument))
}

function createHistogram(meter: Meter, instrument: Instrument): Histogram {
  const advice = { explicitBucketBoundaries: [...(instrument.buckets ?? [])] }
  return meter.createHistogram(instrument.otel, { ...settingsOf(instrument), advice })
}

function createObservable(meter: Meter, instrument: Instrument): Observable {
  return instrument.kind === 'counter'
    ? meter.createObservableCounter(instrument.otel, settingsOf(instrument))
    : meter.createObservableGauge(instrument.otel, settingsOf(instrument))
}
