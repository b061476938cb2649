import type { AttemptFailure } from './events.ts'
import { redactText } from './redact.ts'

/** `err` of a log line, in the form of pino's serializer of errors. */
export interface DescribedFailure {
  type: string
  message: string
  stack?: string
}

/** For logs and traces: secrets are masked as wherever a reason is shown. */
export function describeFailure(
  { error, message, stack }: AttemptFailure,
  { withStack }: { withStack: boolean },
): DescribedFailure {
  const isShown = withStack && stack !== undefined
  return {
    type: nameOf(error),
    message: redactText(message),
    ...(isShown ? { stack: redactText(stack) } : {}),
  }
}

/** Tolerates a revoked proxy and a getter that throws. */
function nameOf(error: unknown): string {
  try {
    const { name } = error as { name?: unknown }
    if (typeof name === 'string' && /^[\w$.]{1,80}$/.test(name)) return name
  } catch {
    // Anything may be thrown.
  }
  return 'Error'
}
