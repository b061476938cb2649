import type * as otel from '@opentelemetry/api'

export type OtelApi = typeof otel

/** Null if the application has not installed it. Without an SDK the API does nothing. */
export async function loadOtel(): Promise<OtelApi | null> {
  try {
    return await import('@opentelemetry/api')
  } catch {
    // A broken installation must not keep jobs from being enqueued.
    return null
  }
}
