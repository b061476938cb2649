import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { nativeProfile } from '../../../dist/index.js'
import { createUnstuck } from './unstuck-application.mjs'

/** Creates and batches every span; exporting them is not measured. */
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
