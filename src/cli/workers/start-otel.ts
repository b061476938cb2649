// Exports metrics and traces of a process by the standard variables of OpenTelemetry. Its SDK is not a dependency: it is found
// in the project that the command runs in.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadOtel } from '../../observe/load-otel.ts'
import { printProgress } from '../terminal/output.ts'

const SDK = '@opentelemetry/sdk-node'

/** Each of them asks for an exporter. */
const asking = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_METRICS_EXPORTER',
  'OTEL_TRACES_EXPORTER',
]

interface Sdk {
  start(): void
  shutdown(): Promise<void>
}

/** Flushes what was measured, and stops. */
export type StopOtel = () => Promise<void>

/** Does nothing unless a variable asks for it, and if the process has an SDK already, for example by `--import`. */
export async function startOtel(env: NodeJS.ProcessEnv = process.env): Promise<StopOtel> {
  const name = asking.find((variable) => !['', 'none', undefined].includes(env[variable]))
  if (name === undefined || env['OTEL_SDK_DISABLED'] === 'true' || (await isRegistered()))
    return async () => {}
  const sdk = await loadSdk()
  if (sdk === null) {
    printProgress(`unstuck: warning: ${name} is set, but ${SDK} is not installed: nothing is exported`)
    return async () => {}
  }
  sdk.start()
  return async () => {
    // An unreachable collector must not keep the process from ending as it would have.
    await sdk.shutdown().catch((error: unknown) => {
      printProgress(
        `unstuck: warning: OpenTelemetry: ${error instanceof Error ? error.message : String(error)}`,
      )
    })
  }
}

async function isRegistered(): Promise<boolean> {
  const otel = await loadOtel()
  return otel !== null && otel.metrics.getMeter('unstuck') !== otel.createNoopMeter()
}

async function loadSdk(): Promise<Sdk | null> {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const found = pathToFileURL(createRequire(from).resolve(SDK)).href
      const { NodeSDK } = (await import(found)) as { NodeSDK: new () => Sdk }
      return new NodeSDK()
    } catch {
      // Not installed there.
    }
  }
  return null
}
