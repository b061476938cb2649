import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { nativeProfile } from '../../../dist/index.js'
import { createUnstuck } from './unstuck-application.mjs'

/** Every span is made and batched; where they go is no part of the measure. */
const nowhere = {
  export: (_spans, onDone) => onDone({ code: 0 }),
  shutdown: async () => {},
}

export default createUnstuck({
  name: 'unstuck, traces',
  settings: 'OpenTelemetry SDK, every span recorded and batched, none sent',
  profile: nativeProfile('unstuck'),
  async observe() {
    const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(nowhere)] })
    provider.register()
    return () => provider.shutdown()
  },
})
