import type * as otel from '@opentelemetry/api'

export type OtelApi = typeof otel

/** Null where the application has not installed it. Without an SDK it is there and does nothing. */
export async function loadOtel(): Promise<OtelApi | null> {
  try {
    return await import('@opentelemetry/api')
  } catch {
    // Nor may a broken installation of it keep jobs from being enqueued.
    return null
  }
}
